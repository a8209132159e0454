console.log('é 中文 😀 \u202e \ud800');
