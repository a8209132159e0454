const s = 'not closed;
