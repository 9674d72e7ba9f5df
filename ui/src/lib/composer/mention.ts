// Naming a file in a prompt: what is being named at the cursor, and how a name is written.

/** A name that is being written: where its `@` stands, and what is there of it. */
export interface Mention {
  start: number;
  query: string;
}

/** The name that the cursor is at the end of; `null` if none is being written there. */
export function mentionAt(text: string, cursor: number): Mention | null {
  // An address such as ann@example.org names no file.
  const found = /(?:^|[\s([{<'"`,;:])@(?:"([^"\n]*)|([^\s"]*))$/.exec(text.slice(0, cursor));
  if (found === null) return null;
  const query = found[1] ?? found[2] ?? '';
  const start = cursor - query.length - (found[1] === undefined ? 1 : 2);
  return { start, query };
}

/** A path as the agent reads it in a prompt. */
export function written(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/** The text with the name written out, and where the cursor goes: behind a file, into a folder. */
export function complete(
  text: string,
  cursor: number,
  mention: Mention,
  path: string,
): { text: string; cursor: number } {
  const name = written(path);
  const rest = text.slice(cursor).replace(/^"/, '');
  // Into a folder: more of the name may follow, before the quote that ends it.
  const into = path.endsWith('/');
  const space = into || /^\s/.test(rest) ? '' : ' ';
  const head = text.slice(0, mention.start) + name;
  const after = into ? head.length - (name.endsWith('"') ? 1 : 0) : head.length + 1;
  return { text: head + space + rest, cursor: after };
}

/** A text with names added to its end. */
export function withMentions(text: string, paths: readonly string[]): string {
  const names = paths.map(written).join(' ');
  return text === '' || /\s$/.test(text) ? `${text}${names} ` : `${text} ${names} `;
}
