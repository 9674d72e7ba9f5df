// Widths of the panels at both sides of the conversation, remembered for each project.

import { innerWidth } from 'svelte/reactivity/window';

export type Side = 'sessions' | 'side';

/** The usual width of each panel and its limits, in pixels of the page. */
const LIMITS: Readonly<Record<Side, { usual: number; least: number; most: number }>> = {
  sessions: { usual: 236, least: 180, most: 480 },
  side: { usual: 288, least: 220, most: 640 },
};

/** The conversation stays at least this wide: some 45 characters. */
const CONVERSATION = 380;

/** Number of projects whose widths are remembered. */
const MOST = 100;
const KEY = 'deskbell.sides';

type Widths = Partial<Record<Side, number>>;

/** The remembered widths by project, the last changed first. What is not readable counts as none. */
function stored(): [string, Widths][] {
  try {
    const entries: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    // Another version wrote it, or it is torn: the usual widths are used.
    return [];
  }
}

const isEntry = (entry: unknown): entry is [string, Widths] =>
  Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'object' && entry[1] !== null;

export class Sides {
  #project: string;
  #wanted = $state.raw<Widths>({});
  #isShown: (side: Side) => boolean;

  /** `project` names the project, with its machine; `isShown` is asked for the panel on the other side. */
  constructor(project: string, isShown: (side: Side) => boolean) {
    this.#project = project;
    this.#isShown = isShown;
    this.#wanted = stored().find(([known]) => known === project)?.[1] ?? {};
  }

  /** The width that a panel has now. A narrower window makes it narrower, and does not change what is remembered. */
  width(side: Side): number {
    return this.#within(side, this.#wish(side), this.most(side));
  }

  usual = (side: Side): number => LIMITS[side].usual;
  least = (side: Side): number => LIMITS[side].least;

  /** The largest width with which the conversation stays readable. */
  most(side: Side): number {
    const other = side === 'sessions' ? 'side' : 'sessions';
    const taken = this.#isShown(other) ? this.#within(other, this.#wish(other), LIMITS[other].most) : 0;
    const free = (innerWidth.current ?? 0) - CONVERSATION - taken;
    return Math.max(LIMITS[side].least, Math.min(LIMITS[side].most, free));
  }

  resize(side: Side, width: number): void {
    this.#wanted = { ...this.#wanted, [side]: Math.round(this.#within(side, width, this.most(side))) };
  }

  /** Remembers the widths for the project's next window. */
  save(): void {
    const others = stored().filter(([known]) => known !== this.#project);
    localStorage.setItem(KEY, JSON.stringify([[this.#project, this.#wanted], ...others].slice(0, MOST)));
  }

  #wish(side: Side): number {
    const wanted = this.#wanted[side];
    return typeof wanted === 'number' && Number.isFinite(wanted) ? wanted : LIMITS[side].usual;
  }

  #within = (side: Side, width: number, most: number) => Math.max(LIMITS[side].least, Math.min(width, most));
}
