// Window parts that F6 cycles through, and the element that gets the focus in each.

/** In the order of F6. Each part's element has the attribute `data-part`. */
const PARTS = ['sessions', 'conversation', 'queue', 'composer', 'side'] as const;
export type Part = (typeof PARTS)[number];

/** The element that gets the focus in a part; the part itself if it has no such element. */
function landing(name: Part, part: HTMLElement): HTMLElement {
  const first = (selector: string) => part.querySelector<HTMLElement>(selector);
  const last = (selector: string) => [...part.querySelectorAll<HTMLElement>(selector)].at(-1);
  switch (name) {
    case 'sessions':
      return first('[aria-current]') ?? first('button') ?? part;
    case 'conversation':
      // An open request, or else the last row that can be expanded: the conversation is read from its end.
      return first('[role=group][tabindex="-1"]') ?? last('.row button[aria-expanded]') ?? part;
    case 'composer':
      return first('textarea') ?? part;
    case 'queue':
    case 'side':
      return first('button:not(:disabled)') ?? part;
  }
}

/** The part in the pane with the focus, or outside of the panes. */
const drawn = (root: ParentNode, name: Part) => {
  const find = (within: string) => root.querySelector<HTMLElement>(`${within}[data-part=${name}]`);
  return find('[data-front] ') ?? find('');
};

/** Moves the focus to a part, if it is drawn. */
export function goToPart(root: ParentNode, name: Part): void {
  const part = drawn(root, name);
  if (part === null) return;
  const target = landing(name, part);
  target.scrollIntoView?.({ block: 'nearest' });
  target.focus();
}

/** Moves the focus to the next drawn part, or to the previous one. */
export function stepPart(root: ParentNode, focused: Element | null, by: 1 | -1): void {
  const there = PARTS.filter((name) => drawn(root, name) !== null);
  const at = there.findIndex((name) => drawn(root, name)?.contains(focused));
  const from = at >= 0 ? at : by > 0 ? -1 : 0;
  const next = there.at((from + by) % there.length);
  if (next !== undefined) goToPart(root, next);
}
