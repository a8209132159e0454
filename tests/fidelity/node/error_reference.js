console.log(notDefined);
