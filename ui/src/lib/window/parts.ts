// The parts of a window that F6 goes through, and where the focus lands in each.

/** In the order of F6; each is marked with `data-part` where it is drawn. */
const PARTS = ['sessions', 'conversation', 'queue', 'composer', 'side'] as const;
export type Part = (typeof PARTS)[number];

/** What takes the focus in a part; the part itself if there is nothing in it. */
function landing(name: Part, part: HTMLElement): HTMLElement {
  const first = (selector: string) => part.querySelector<HTMLElement>(selector);
  const last = (selector: string) => [...part.querySelectorAll<HTMLElement>(selector)].at(-1);
  switch (name) {
    case 'sessions':
      return first('[aria-current]') ?? first('button') ?? part;
    case 'conversation':
      // A request that waits; else the last line that opens: the conversation is read from its end.
      return first('[role=group][tabindex="-1"]') ?? last('.row button[aria-expanded]') ?? part;
    case 'composer':
      return first('textarea') ?? part;
    case 'queue':
    case 'side':
      return first('button:not(:disabled)') ?? part;
  }
}

const drawn = (root: ParentNode, name: Part) => root.querySelector<HTMLElement>(`[data-part=${name}]`);

/** Puts the focus into a part, if it is there. */
export function goToPart(root: ParentNode, name: Part): void {
  const part = drawn(root, name);
  if (part === null) return;
  const target = landing(name, part);
  target.scrollIntoView?.({ block: 'nearest' });
  target.focus();
}

/** Puts the focus into the next part that is there, or into the one before. */
export function stepPart(root: ParentNode, focused: Element | null, by: 1 | -1): void {
  const there = PARTS.filter((name) => drawn(root, name) !== null);
  const at = there.findIndex((name) => drawn(root, name)?.contains(focused));
  const from = at >= 0 ? at : by > 0 ? -1 : 0;
  const next = there.at((from + by) % there.length);
  if (next !== undefined) goToPart(root, next);
}
