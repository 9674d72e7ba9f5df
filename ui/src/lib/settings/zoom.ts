// Zoom levels and their keyboard shortcuts.

import { isMac } from '../kit/keys';

/** In percent. The shell accepts nothing outside the first and the last. */
export const ZOOMS = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200] as const;

export type ZoomStep = 'larger' | 'smaller' | 'usual';

export function zoomed(percent: number, step: ZoomStep): number {
  if (step === 'usual') return 100;
  if (step === 'larger') return ZOOMS.find((zoom) => zoom > percent) ?? ZOOMS[ZOOMS.length - 1] ?? percent;
  return ZOOMS.findLast((zoom) => zoom < percent) ?? ZOOMS[0];
}

/** The zoom step of a keyboard shortcut. The plus key may need Shift, and often shares its key with `=`. */
export function zoomStep(event: KeyboardEvent): ZoomStep | null {
  const modifier = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (!modifier || event.altKey) return null;
  switch (event.key) {
    case '+':
    case '=':
      return 'larger';
    case '-':
    case '_':
      return 'smaller';
    case '0':
      return 'usual';
    default:
      return null;
  }
}
