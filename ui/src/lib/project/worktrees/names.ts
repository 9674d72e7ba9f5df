// Names of branches that are suggested for a new worktree.

/** Maximum length of a name that is made of a title, in characters. */
const LONGEST = 32;

/** The title in lower case with `-` between its words, cut after a word: “Round half to even” → `round-half-to-even`. */
function fromTitle(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const [first = '', ...words] = plain.match(/[a-z0-9]+/g) ?? [];
  let name = first.slice(0, LONGEST);
  for (const word of words) {
    if (name.length + 1 + word.length > LONGEST) break;
    name = `${name}-${word}`;
  }
  return name;
}

/** A name for the branch of a session with this title; of the day if there is none: `session-11-24`. */
export function suggestedName(title: string | null, now: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const name = title === null ? '' : fromTitle(title);
  return name === '' ? `session-${two(now.getMonth() + 1)}-${two(now.getDate())}` : name;
}
