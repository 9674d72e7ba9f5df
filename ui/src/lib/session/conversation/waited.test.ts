import { expect, it } from 'vitest';

import { waited } from './waited';

it('tells what there was', () => {
  expect(waited({ spawnMs: 400, firstLineMs: 200, firstTextMs: 2_000 })).toBe(
    'The agent started in 0.4 s, first line after 0.2 s, first text after 2 s',
  );
  expect(waited({ spawnMs: null, firstLineMs: 200, firstTextMs: null })).toBe('First line after 0.2 s');
  expect(waited({ spawnMs: null, firstLineMs: null, firstTextMs: null })).toBeUndefined();
});
