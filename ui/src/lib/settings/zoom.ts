// Zoom levels.

/** In percent. The shell accepts nothing outside the first and the last. */
export const ZOOMS = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200] as const;

export type ZoomStep = 'larger' | 'smaller' | 'usual';

export function zoomed(percent: number, step: ZoomStep): number {
  if (step === 'usual') return 100;
  if (step === 'larger') return ZOOMS.find((zoom) => zoom > percent) ?? ZOOMS[ZOOMS.length - 1] ?? percent;
  return ZOOMS.findLast((zoom) => zoom < percent) ?? ZOOMS[0];
}
