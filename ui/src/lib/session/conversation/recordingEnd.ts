// The end of a recording, in words.

import type { RecordingState } from '../../bindings/api';

/** Keeps a number and its unit in one line. */
const SPACE = '\u{a0}';

export function endOf({ path, nBytes, problem }: RecordingState): string {
  const size = sizeOf(nBytes);
  if (problem === null)
    return `Recorded to ${path} (${size}). Read it before you attach it to a report. Deskbell keeps it until you delete it.`;
  const kept = nBytes === 0 ? 'Nothing of it was kept.' : `The first ${size} are in ${path}.`;
  return `The recording has ended: ${problem}. ${kept} The session goes on.`;
}

function sizeOf(nBytes: number): string {
  if (nBytes >= 1_000_000) return `${(nBytes / 1_000_000).toFixed(1)}${SPACE}MB`;
  return `${Math.ceil(nBytes / 1000)}${SPACE}kB`;
}
