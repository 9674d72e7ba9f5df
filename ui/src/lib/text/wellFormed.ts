// Texts without halves of characters. JavaScript can cut a character of two code units in half; what is sent to the engine
// is JSON in UTF-8, which has no half, so one would make the whole message unreadable.

/** Replaces each half of a character by U+FFFD. */
export const wellFormed = (text: string) => text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');

/** The same in every text of a value that is sent as JSON. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [wellFormed(name), wellFormedValue(one)]));
}
