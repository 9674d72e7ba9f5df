// Unique keys for lists that keep their elements when the order changes.

/**
 * Returns a key for each entry: its id, with a number appended if an earlier entry has the same id. Svelte stops
 * drawing the page at a duplicate key, and an id can come from an agent.
 */
export function uniqueKeys<Entry>(entries: readonly Entry[], idOf: (entry: Entry) => string | number): string[] {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const id = String(idOf(entry));
    let n = counts.get(id) ?? 0;
    let key = id;
    while (used.has(key)) {
      n += 1;
      key = `${id}#${n}`;
    }
    counts.set(id, n);
    used.add(key);
    return key;
  });
}
