// File mentions in a prompt: the one being typed at the cursor, and their written form.

/** A mention being typed: the position of its `@`, and the text typed so far. */
export interface Mention {
  start: number;
  query: string;
}

/** The mention that ends at the cursor; `null` if none does. */
export function mentionAt(text: string, cursor: number): Mention | null {
  // An e-mail address such as ann@example.org is not a mention.
  const found = /(?:^|[\s([{<'"`,;:])@(?:"([^"\n]*)|([^\s"]*))$/.exec(text.slice(0, cursor));
  if (found === null) return null;
  const query = found[1] ?? found[2] ?? '';
  const start = cursor - query.length - (found[1] === undefined ? 1 : 2);
  return { start, query };
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
