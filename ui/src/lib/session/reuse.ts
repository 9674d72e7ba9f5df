// Structural sharing: builds a new value from the equal parts of the old one.

/**
 * Returns a value equal to `after` that shares every equal part with `before`; `before` itself if nothing differs.
 * Without a difference nothing is allocated: a long text is compared mostly for its few new blocks.
 */
export function reuse<T>(before: T, after: T): T {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) return reuseArray(before, after) as T;
  if (isRecord(before) && isRecord(after)) return reuseRecord(before, after) as T;
  return after;
}

function reuseArray(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  let parts: unknown[] | null = null;
  for (let i = 0; i < after.length; i += 1) {
    const part = i < before.length ? reuse(before[i], after[i]) : after[i];
    if (parts === null && (i >= before.length || part !== before[i])) parts = before.slice(0, i);
    parts?.push(part);
  }
  return parts ?? (before.length === after.length ? before : before.slice(0, after.length));
}

type Fields = Record<string, unknown>;

function reuseRecord(before: Fields, after: Fields): Fields {
  let parts: Fields | null = null;
  let nAfter = 0;
  for (const key in after) {
    nAfter += 1;
    const part = key in before ? reuse(before[key], after[key]) : after[key];
    if (parts === null && (!(key in before) || part !== before[key])) {
      parts = {};
      for (const earlier in after) {
        if (earlier === key) break;
        parts[earlier] = before[earlier];
      }
    }
    if (parts !== null) parts[key] = part;
  }
  if (parts !== null) return parts;
  // All entries of `after` are equal to those of `before`, which may have more.
  return Object.keys(before).length === nAfter ? before : after;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
