// A command as one line: its words stand apart by spaces, and quotes keep spaces in a word.

import type { JsonValue } from '../../bindings/api';

/** The words of a line; `null` if a quote is not closed. In double quotes, a backslash stands before a quote or a backslash. */
export function splitLine(line: string): string[] | null {
  const words: string[] = [];
  const word = /((?:'[^']*'|"(?:\\[^]|[^"\\])*"|[^\s'"])+)|\s+/y;
  while (word.lastIndex < line.length) {
    const found = word.exec(line);
    if (found === null) return null;
    if (found[1] !== undefined) words.push(unquoted(found[1]));
  }
  return words;
}

const unquoted = (word: string) =>
  word.replace(/'([^']*)'|"((?:\\[^]|[^"\\])*)"/g, (_, single?: string, double?: string) =>
    single === undefined ? (double ?? '').replace(/\\(["\\])/g, '$1') : single,
  );

function quoted(word: string): string {
  if (word !== '' && !/[\s'"]/.test(word)) return word;
  return word.includes("'") ? `"${word.replace(/["\\]/g, '\\$&')}"` : `'${word}'`;
}

/** The line of a command; empty for none. */
export function lineOf(value: JsonValue): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return '';
  const { program, args } = value as { program: string; args?: string[] };
  return [program, ...(args ?? [])].map(quoted).join(' ');
}

/** The command of a line's words; `null` if there is none. */
export function commandOf([program, ...args]: string[]): JsonValue {
  return program === undefined ? null : { program, args };
}
