// Structural sharing: a new value made of the old one's parts wherever they are equal.

/** A value equal to `after` that shares every equal part with `before`; `before` itself if nothing differs. */
export function reuse<T>(before: T, after: T): T {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) {
    const parts = after.map((part: unknown, i) => (i < before.length ? reuse(before[i] as unknown, part) : part));
    const same = before.length === after.length && parts.every((part, i) => part === before[i]);
    return same ? before : (parts as T);
  }
  if (isRecord(before) && isRecord(after)) {
    const keys = Object.keys(after);
    let same = keys.length === Object.keys(before).length;
    const parts: Record<string, unknown> = {};
    for (const key of keys) {
      parts[key] = key in before ? reuse(before[key], after[key]) : after[key];
      if (!(key in before) || parts[key] !== before[key]) same = false;
    }
    return same ? before : (parts as T);
  }
  return after;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
