// The arrangement of the board. While the user aims at a row, no row moves: the groups and their order stay, and only the
// texts and marks of the rows change.

import type { BoardRow } from '../../bindings/api';
import type { Clock } from '../../kit/attention.svelte';
import { GROUPS, type Groups } from './rows';

/** No row moves for this long after a key, in milliseconds. */
const AFTER_KEY_MS = 2_000;
/** Nor for this long after the last motion of a pointer over the list. New rows appear then, even if it is still there. */
const AFTER_MOTION_MS = 10_000;

/** A delay that begins again with each call of `begin`. */
class Delay {
  running = $state(false);
  #cancel = () => {};

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
  ) {}

  begin(): void {
    this.#cancel();
    this.running = true;
    this.#cancel = this.clock.after(this.ms, () => (this.running = false));
  }

  end(): void {
    this.#cancel();
    this.running = false;
  }
}

export class Arrangement {
  readonly groups: Groups = $derived.by(() => this.#arranged());
  #key: Delay;
  #motion: Delay;
  /** The sessions of the last arrangement. */
  #last: Record<string, readonly string[]> = {};

  /** Create it during component setup. `wanted` returns the rows in the order that they would have. */
  constructor(
    clock: Clock,
    private readonly wanted: () => Groups,
  ) {
    this.#key = new Delay(clock, AFTER_KEY_MS);
    this.#motion = new Delay(clock, AFTER_MOTION_MS);
  }

  get isHeld(): boolean {
    return this.#key.running || this.#motion.running;
  }

  onkey = () => this.#key.begin();
  onmotion = () => this.#motion.begin();
  onleave = () => this.#motion.end();

  /** Rows may move from now on. */
  release(): void {
    this.#key.end();
    this.#motion.end();
  }

  #arranged(): Groups {
    const wanted = this.wanted();
    const groups = this.isHeld ? this.#inPlace(wanted) : wanted;
    for (const name of GROUPS) this.#last[name] = groups[name].map(({ sessionId }) => sessionId);
    return groups;
  }

  /** The present rows at their last places. New ones wait, unless there was no list yet. */
  #inPlace(wanted: Groups): Groups {
    const rows = new Map<string, BoardRow>(GROUPS.flatMap((name) => wanted[name].map((row) => [row.sessionId, row])));
    const of = (name: string) => (this.#last[name] ?? []).flatMap((id) => rows.get(id) ?? []);
    const held = { needs: of('needs'), working: of('working'), done: of('done') };
    return GROUPS.every((name) => held[name].length === 0) ? wanted : held;
  }
}
