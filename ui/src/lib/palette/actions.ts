// What the palette offers, and what of it fits the words that were typed.

export interface Action {
  id: string;
  label: string;
  /** What else it is found by, and shown beside it. */
  detail?: string;
  key?: string;
  run: () => void;
}

/** The actions that hold every word of `query`, those that begin with it first. */
export function matching(actions: readonly Action[], query: string): Action[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = actions.filter((action) => {
    const text = `${action.label} ${action.detail ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const first = words[0];
  if (first === undefined) return fits;
  const begins = (action: Action) => (action.label.toLowerCase().startsWith(first) ? 0 : 1);
  return fits.toSorted((a, b) => begins(a) - begins(b));
}
