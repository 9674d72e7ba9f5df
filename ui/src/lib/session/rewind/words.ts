// The words for a rewind that can be undone.

import type { RewindUndo } from '../../bindings/api';
import { plural } from '../../kit/amounts';

/** The parts that went back, and that *Undo* restores. */
export function restored({ nFiles, conversation }: RewindUndo): string {
  if (nFiles === 0) return 'the conversation';
  if (conversation) return `${plural(nFiles, 'file')} and the conversation`;
  return plural(nFiles, 'file');
}
