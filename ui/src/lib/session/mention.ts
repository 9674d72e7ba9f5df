// File mentions in a prompt: the one being typed at the cursor, and their written form.

/** A mention being typed: the position of its `@`, and the text typed so far. */
export interface Mention {
  start: number;
  query: string;
}

/** The characters that may precede a mention. An e-mail address such as ann@example.org is not a mention. */
const BEFORE = /[\s([{<'"`,;:]/;

/**
 * The mention that ends at the cursor; `null` if none does. It is searched from the cursor back: an expression would
 * search on from each `@` of the text.
 */
export function mentionAt(text: string, cursor: number): Mention | null {
  const begins = (at: number) => text[at] === '@' && (at === 0 || BEFORE.test(text.charAt(at - 1)));
  const quote = text.lastIndexOf('"', cursor - 1);
  const isQuoted = cursor > 0 && begins(quote - 1) && !text.slice(quote, cursor).includes('\n');
  if (isQuoted) return { start: quote - 1, query: text.slice(quote + 1, cursor) };
  let start: number | null = null;
  for (let at = cursor - 1; at >= 0 && !/[\s"]/.test(text.charAt(at)); at -= 1) if (begins(at)) start = at;
  return start === null ? null : { start, query: text.slice(start + 1, cursor) };
}

/** A path in the form in which the agent reads it in a prompt. */
export function written(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/** Completes the mention. The cursor goes after the name of a file, and inside that of a folder. */
export function complete(
  text: string,
  cursor: number,
  mention: Mention,
  path: string,
): { text: string; cursor: number } {
  const name = written(path);
  const rest = text.slice(cursor).replace(/^"/, '');
  // For a folder more of the name may follow, before the closing quote.
  const into = path.endsWith('/');
  const space = into || /^\s/.test(rest) ? '' : ' ';
  const head = text.slice(0, mention.start) + name;
  const after = into ? head.length - (name.endsWith('"') ? 1 : 0) : head.length + 1;
  return { text: head + space + rest, cursor: after };
}

/** Appends mentions to the end of a text. */
export function withMentions(text: string, paths: readonly string[]): string {
  const names = paths.map(written).join(' ');
  return text === '' || /\s$/.test(text) ? `${text}${names} ` : `${text} ${names} `;
}
