// The words for a rewind that can be undone.

import type { RewindUndo } from '../../bindings/api';
import { plural } from '../../kit/amounts';

/** What the undo restores. */
export function restored({ nFiles, conversation }: RewindUndo): string {
  if (nFiles === 0) return 'the conversation returns';
  if (conversation) return `${plural(nFiles, 'file')} and the conversation return`;
  return plural(nFiles, 'file returns', 'files return');
}
