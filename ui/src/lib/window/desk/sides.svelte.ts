// The panels at both sides of the conversation: their widths and whether they are shown, remembered for each project.

import { innerWidth } from 'svelte/reactivity/window';

import type { PanelChoice, SidePanels } from '../../bindings/api';

export type Side = 'sessions' | 'side';

/** The usual width of each panel and its limits, in pixels of the page. */
const LIMITS: Readonly<Record<Side, { usual: number; least: number; most: number }>> = {
  sessions: { usual: 280, least: 220, most: 480 },
  side: { usual: 288, least: 220, most: 640 },
};

const AS_USUAL: PanelChoice = { width: null, shown: null };

/** The conversation stays at least this wide: some 45 characters. */
const CONVERSATION = 380;

export class Sides {
  #wanted = $state.raw<SidePanels>({ sessions: AS_USUAL, side: AS_USUAL });
  #isShown: (side: Side) => boolean;
  #keep: (panels: SidePanels) => void;

  /** `panels` are as the last window left them; `isShown` is asked for the panel on the other side; `keep` remembers them. */
  constructor(panels: SidePanels, isShown: (side: Side) => boolean, keep: (panels: SidePanels) => void) {
    this.#wanted = panels;
    this.#isShown = isShown;
    this.#keep = keep;
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
    this.#choose(side, { width: Math.round(this.#within(side, width, this.most(side))) });
  }

  /** Whether the user wants a panel; `null` if that was not said yet. */
  wanted(side: Side): boolean | null {
    return this.#wanted[side].shown;
  }

  /** Shows or hides a panel, also in the project's next window. */
  show(side: Side, shown: boolean): void {
    this.#choose(side, { shown });
    this.save();
  }

  /** Remembers the panels for the project's next window. */
  save(): void {
    this.#keep(this.#wanted);
  }

  #choose(side: Side, choice: Partial<PanelChoice>): void {
    this.#wanted = { ...this.#wanted, [side]: { ...this.#wanted[side], ...choice } };
  }

  #wish = (side: Side): number => this.#wanted[side].width ?? LIMITS[side].usual;

  #within = (side: Side, width: number, most: number) => Math.max(LIMITS[side].least, Math.min(width, most));
}
