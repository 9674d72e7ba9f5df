// Turn latency in words.

import type { TurnTiming } from '../../bindings/api';
import { span } from '../../text/time';

export function waited({ spawnMs, firstLineMs, firstTextMs }: TurnTiming): string | undefined {
  const parts = [
    ...(spawnMs === null ? [] : [`The agent started in ${span(spawnMs)}`]),
    ...(firstLineMs === null ? [] : [`first line after ${span(firstLineMs)}`]),
    ...(firstTextMs === null ? [] : [`first text after ${span(firstTextMs)}`]),
  ];
  const words = parts.join(', ');
  return words === '' ? undefined : words.charAt(0).toUpperCase() + words.slice(1);
}
