const date = new Date(Date.UTC(2024, 6, 1, 12, 30));
for (const locale of ['en', 'de', 'ja', 'ar-EG', 'hi']) {
  console.log(new Intl.DateTimeFormat(locale, { dateStyle: 'full',
    timeStyle: 'long', timeZone: 'Asia/Tokyo' }).format(date),
  new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
    .format(1234.5));
}
console.log(new Intl.PluralRules('pl').select(3),
  new Intl.RelativeTimeFormat('fr').format(-2, 'day'),
  new Intl.ListFormat('es').format(['a', 'b', 'c']),
  [...new Intl.Segmenter('en', { granularity: 'word' })
    .segment('Hello there')].length,
  new Intl.DisplayNames('it', { type: 'region' }).of('CH'));
console.log(Intl.DateTimeFormat().resolvedOptions(),
  Intl.NumberFormat().resolvedOptions().locale);
console.log('straße'.toUpperCase(), 'İ'.toLowerCase(), 'I'.toLocaleLowerCase(
  'tr'), 'é'.normalize('NFD').length);
