// Making inputs of any size.

/** Builds an input of about `n` characters, and returns the work to measure. */
export type Prepare = (n: number) => () => unknown;

export type Class = readonly [name: string, prepare: Prepare];

/** `n` values, made from their number. */
export function list<T>(n: number, make: (i: number) => T): T[] {
  return Array.from({ length: Math.floor(n) }, (_, i) => make(i));
}

/** The text again and again, about `n` characters of it. */
export function repeat(text: string, n: number): string {
  return text.repeat(Math.floor(n / text.length));
}
