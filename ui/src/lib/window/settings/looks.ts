// How the settings page draws a choice.

import type { SettingKey } from '../../bindings/api';

/** A choice with all its options in view. */
export type Look = 'segments' | 'themes' | 'swatches';

/** The longest option that is a segment, in letters. */
const MOST_LETTERS = 14;

/** The look of a choice whose options are all in view; `null` for a list that opens. */
export function lookOf({ key, control }: SettingKey): Look | null {
  if (key === 'theme') return 'themes';
  if (key === 'accent') return 'swatches';
  if (control.type !== 'choice' || control.options.length > 3) return null;
  return control.options.every(({ label }) => label.length <= MOST_LETTERS) ? 'segments' : null;
}
