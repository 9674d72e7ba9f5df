import { expect, it } from 'vitest';

import { call } from '../../test/make';
import { DIFF, tool } from '../host/fake/script';
import { ItemState } from '../state/item.svelte';
import { changedFiles } from './changes';

function edit(id: string, path: string, state: 'succeeded' | 'denied' = 'succeeded') {
  const body = tool('edit', 'Edited', path, { type: 'edit', ...DIFF, path, added: 3, removed: 1 }, { state });
  return new ItemState({ ...call(id, 'edit'), body });
}

it('adds up the edits of a file and leads with the latest', () => {
  const files = changedFiles([
    edit('1', 'src/a.rs'),
    edit('2', 'b.rs'),
    edit('3', 'src/a.rs'),
    edit('4', 'c.rs', 'denied'),
  ]);
  expect(files).toEqual([
    { path: 'src/a.rs', name: 'a.rs', folder: 'src', added: 6, removed: 2, itemId: '3' },
    { path: 'b.rs', name: 'b.rs', folder: '', added: 3, removed: 1, itemId: '2' },
  ]);
});
