// Row heights of a long list: measured where a row was drawn, estimated elsewhere. No DOM.

/** How reliable a height is. */
const GUESSED = 0;
const ESTIMATED = 1;
const MEASURED = 2;

/**
 * The heights and offsets of a list's rows, by row number. Sums are kept in a Fenwick tree: a change, an offset and a
 * row lookup each take O(log n).
 */
export class Heights {
  /** The height of a row without a measurement or estimate. */
  readonly guess: number;
  #count = 0;
  #heights = new Float64Array(64);
  #known = new Uint8Array(64);
  /**
   * The Fenwick tree, 1-based: `#sums[i]` is the sum of as many rows up to and including row `i - 1` as the lowest bit
   * of `i` says.
   */
  #sums = new Float64Array(65);

  constructor(guess: number) {
    this.guess = guess;
  }

  get count(): number {
    return this.#count;
  }

  setCount(count: number): void {
    if (count > this.#heights.length) this.#grow(count);
    for (let i = this.#count; i < count; i += 1) {
      this.#heights[i] = this.guess;
      this.#known[i] = GUESSED;
    }
    this.#sum(this.#count + 1, count);
  }

  /** Fills in the tree from node `from` on, for `count` rows. */
  #sum(from: number, count: number): void {
    this.#count = count;
    for (let i = from; i <= count; i += 1) {
      let sum = this.#heights[i - 1] ?? 0;
      for (let part = i - 1, end = i - (i & -i); part > end; part -= part & -part) sum += this.#sums[part] ?? 0;
      this.#sums[i] = sum;
    }
  }

  /** Adds `by` rows before row `at`, or takes rows away from there on. The others keep their heights. */
  move(at: number, by: number): void {
    if (at >= this.#count) return;
    const count = Math.max(at, this.#count + by);
    if (count > this.#heights.length) this.#grow(count);
    for (const list of [this.#heights, this.#known])
      list.copyWithin(at + Math.max(0, by), at + Math.max(0, -by), this.#count);
    this.#heights.fill(this.guess, at, at + Math.max(0, by));
    this.#known.fill(GUESSED, at, at + Math.max(0, by));
    this.#sum(at + 1, count);
  }

  /** Records a measured height; returns whether it differs from the known one. */
  measure(index: number, height: number): boolean {
    if (index >= this.#count) return false;
    this.#known[index] = MEASURED;
    return this.#set(index, height);
  }

  /** Records an estimate for a row without a measurement or estimate. */
  estimate(index: number, height: () => number): void {
    if (index >= this.#count || this.#known[index] !== GUESSED) return;
    this.#known[index] = ESTIMATED;
    this.#set(index, height());
  }

  /** The offset of row `index`; for the number of rows, the total height. */
  offset(index: number): number {
    let sum = 0;
    for (let i = Math.max(0, Math.min(index, this.#count)); i > 0; i -= i & -i) sum += this.#sums[i] ?? 0;
    return sum;
  }

  get total(): number {
    return this.offset(this.#count);
  }

  /** The row that covers `y`. */
  indexAt(y: number): number {
    let index = 0;
    let left = y;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#count))); step >= 1; step /= 2) {
      const next = index + step;
      const sum = this.#sums[next] ?? 0;
      if (next > this.#count || sum > left) continue;
      index = next;
      left -= sum;
    }
    return Math.max(0, Math.min(index, this.#count - 1));
  }

  #set(index: number, height: number): boolean {
    const by = height - (this.#heights[index] ?? 0);
    if (by === 0) return false;
    this.#heights[index] = height;
    for (let i = index + 1; i <= this.#count; i += i & -i) this.#sums[i] = (this.#sums[i] ?? 0) + by;
    return true;
  }

  #grow(count: number): void {
    const room = Math.ceil(count * 1.5);
    const [heights, known, sums] = [new Float64Array(room), new Uint8Array(room), new Float64Array(room + 1)];
    heights.set(this.#heights);
    known.set(this.#known);
    sums.set(this.#sums);
    [this.#heights, this.#known, this.#sums] = [heights, known, sums];
  }
}
