console.log('2024-01-02'.match(/(?<y>\d+)-(?<m>\d+)/).groups,
  'aXbX'.replaceAll('X', '-'), [...'a1b2'.matchAll(/[a-z](\d)/g)].length,
  /\p{Lu}/u.test('É'), 'x'.padStart(3, 'ab'));
