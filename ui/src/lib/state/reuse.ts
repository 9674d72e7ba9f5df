// Structural sharing: a new value made of the old one's parts wherever they are equal.

/**
 * A value equal to `after` that shares every equal part with `before`; `before` itself if nothing differs. Where nothing
 * differs, nothing is allocated: most of a long text is compared for the few blocks of it that are new.
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
  // Equal but for what `before` may have besides.
  return Object.keys(before).length === nAfter ? before : after;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
