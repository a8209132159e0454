console.log('stdin is ignored');
