// How tall the rows of a long list are: measured where they were drawn, estimated elsewhere. No DOM.

interface Keyed {
  key: string;
}

/**
 * The heights of a list's rows and the places that follow from them. A change costs the rows below it, so growth at
 * the end, which is nearly all of it, costs nothing however long the list is.
 */
export class Heights<Row extends Keyed> {
  #estimate: (row: Row) => number;
  #rows: readonly Row[] = [];
  #indexes = new Map<string, number>();
  #measured = new Map<string, number>();
  /** Where each row begins; right up to and including `#valid`. */
  #offsets = new Float64Array(1);
  #valid = 0;

  constructor(estimate: (row: Row) => number) {
    this.#estimate = estimate;
  }

  setRows(rows: readonly Row[]): void {
    if (rows === this.#rows) return;
    const before = this.#rows;
    let same = 0;
    while (same < rows.length && rows[same] === before[same]) same += 1;
    for (let i = same; i < before.length; i += 1) this.#indexes.delete(before[i]?.key ?? '');
    for (let i = same; i < rows.length; i += 1) this.#indexes.set(rows[i]?.key ?? '', i);
    this.#rows = rows;
    this.#valid = Math.min(this.#valid, same);
    if (this.#offsets.length <= rows.length) {
      const larger = new Float64Array(Math.ceil(rows.length * 1.5) + 1);
      larger.set(this.#offsets);
      this.#offsets = larger;
    }
  }

  /** Records a height; says whether it differs from what was known. */
  measure(key: string, height: number): boolean {
    if (this.#measured.get(key) === height) return false;
    this.#measured.set(key, height);
    const index = this.#indexes.get(key);
    if (index !== undefined) this.#valid = Math.min(this.#valid, index);
    return true;
  }

  indexOf(key: string): number | undefined {
    return this.#indexes.get(key);
  }

  /** Where row `index` begins; at the number of rows, the height of them all. */
  offset(index: number): number {
    const to = Math.max(0, Math.min(index, this.#rows.length));
    for (let i = this.#valid; i < to; i += 1) {
      const row = this.#rows[i];
      if (row === undefined) break;
      const height = this.#measured.get(row.key) ?? this.#estimate(row);
      this.#offsets[i + 1] = (this.#offsets[i] ?? 0) + height;
    }
    this.#valid = Math.max(this.#valid, to);
    return this.#offsets[to] ?? 0;
  }

  get total(): number {
    return this.offset(this.#rows.length);
  }

  /** The row that covers `y`. */
  indexAt(y: number): number {
    let low = 0;
    let high = Math.max(0, this.#rows.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offset(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
