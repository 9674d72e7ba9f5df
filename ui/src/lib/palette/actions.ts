// Actions of the palette, and the search among them.

export interface Action {
  id: string;
  label: string;
  /** Additional search text, shown next to the label. */
  detail?: string;
  key?: string;
  run: () => void;
}

/** Returns the actions that match every word of `query`. Those that start with its first word come first. */
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
