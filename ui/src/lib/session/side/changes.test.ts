import { expect, it } from 'vitest';

import { changedFiles } from './changes';

it('leads with the file that changed last, and tells its name from its folder', () => {
  const file = { added: 3, removed: 1, itemId: 'e', row: 4 };
  const files = changedFiles([
    { ...file, path: 'b.rs' },
    { ...file, path: 'src/deep/a.rs' },
  ]);
  expect(files.map(({ name, folder }) => [folder, name])).toEqual([
    ['src/deep', 'a.rs'],
    ['', 'b.rs'],
  ]);
});
