// The panels at both sides of the conversation: their widths and whether they are shown, remembered for each project.

import { innerWidth } from 'svelte/reactivity/window';

export type Side = 'sessions' | 'side';

/** The usual width of each panel and its limits, in pixels of the page. */
const LIMITS: Readonly<Record<Side, { usual: number; least: number; most: number }>> = {
  sessions: { usual: 236, least: 180, most: 480 },
  side: { usual: 288, least: 220, most: 640 },
};

/** The conversation stays at least this wide: some 45 characters. */
const CONVERSATION = 380;

/** Number of projects whose panels are remembered. */
const MOST = 100;
const KEY = 'deskbell.sides';

type Widths = Partial<Record<Side, number>>;
type Kept = Widths & { shown?: Partial<Record<Side, boolean>> };

/** The remembered panels by project, the last changed first. What is not readable counts as none. */
function stored(): [string, Kept][] {
  try {
    const entries: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    // Another version wrote it, or it is torn: the panels are as usual.
    return [];
  }
}

const isEntry = (entry: unknown): entry is [string, Kept] =>
  Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'object' && entry[1] !== null;

export class Sides {
  #project: string;
  #wanted = $state.raw<Kept>({});
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

  /** Whether the user wants a panel; `null` if that was not said yet. */
  wanted(side: Side): boolean | null {
    const shown: unknown = this.#wanted.shown?.[side];
    return typeof shown === 'boolean' ? shown : null;
  }

  /** Shows or hides a panel, also in the project's next window. */
  show(side: Side, shown: boolean): void {
    this.#wanted = { ...this.#wanted, shown: { ...this.#wanted.shown, [side]: shown } };
    this.save();
  }

  /** Remembers the panels for the project's next window. */
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
