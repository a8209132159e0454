console.log(new Date(0).toString(), new Date(0).getTimezoneOffset());
console.log(Intl.DateTimeFormat().resolvedOptions().timeZone);
