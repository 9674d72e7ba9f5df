// Which files a session changed, from its edits.

import type { ItemState } from '../state/item.svelte';

export interface ChangedFile {
  path: string;
  name: string;
  folder: string;
  added: number;
  removed: number;
  /** The last edit of it. */
  itemId: string;
}

/** The files that `edits` changed for good, in the order of their last change, newest first. */
export function changedFiles(edits: readonly ItemState[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const { id, body } of edits) {
    if (body.type !== 'toolCall' || body.state !== 'succeeded' || body.detail.type !== 'edit') continue;
    const { path, added, removed } = body.detail;
    const before = files.get(path);
    files.delete(path);
    const slash = path.lastIndexOf('/');
    files.set(path, {
      path,
      name: path.slice(slash + 1),
      folder: slash < 0 ? '' : path.slice(0, slash),
      added: (before?.added ?? 0) + added,
      removed: (before?.removed ?? 0) + removed,
      itemId: id,
    });
  }
  return [...files.values()].reverse();
}
