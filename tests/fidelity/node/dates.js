const date = new Date(Date.UTC(2024, 1, 29, 12));
console.log(date, date.toISOString(), date.toLocaleDateString('en-US'),
  date.toLocaleString('de-DE', { timeZone: 'UTC' }), String(date));
console.log(new Intl.NumberFormat('en-IN').format(1234567.89),
  (1234.5).toLocaleString(), ['b', 'ä', 'a'].sort(new Intl.Collator('de').compare));
