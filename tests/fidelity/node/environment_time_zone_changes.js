const date = new Date(Date.UTC(2024, 6, 1));
console.log(process.env.TZ, date.getHours(), date.toString());
for (const zone of ['America/New_York', 'Asia/Kolkata', 'UTC']) {
  process.env.TZ = zone;
  console.log(date.toString(), date.getTimezoneOffset());
}
delete process.env.TZ;
console.log(date.toString());
