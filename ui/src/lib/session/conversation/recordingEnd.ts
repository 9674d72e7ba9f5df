// The end of a recording, in words.

import type { RecordingState } from '../../bindings/api';
import { bytes } from '../../kit/amounts';

export function endOf({ path, nBytes, problem }: RecordingState): string {
  const size = bytes(nBytes);
  if (problem === null)
    return `Recorded to ${path} (${size}). Read it before you attach it to a report. Deskbell keeps it until you delete it.`;
  const kept = nBytes === 0 ? 'Nothing of it was kept.' : `The first ${size} are in ${path}.`;
  return `The recording has ended: ${problem}. ${kept} The session goes on.`;
}
