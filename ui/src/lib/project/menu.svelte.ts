// The menu of a window: its entries, and whether it is open.

import { getContext, setContext } from 'svelte';

import type { MenuEntry } from '../bindings/api';
import type { MenuItem } from '../kit/MenuList.svelte';
import type { MenuBar } from './menuBar.svelte';

/** What a menu shows and does. */
export interface MenuOf {
  items: () => readonly MenuItem[];
  /** The same for the menu bar of the system. */
  entries: () => MenuEntry[];
  pick: (id: string) => void;
  /** Reads again what the entries need, as the menu opens. */
  onopen?: () => void;
}

export class WindowMenu {
  isOpen = $state(false);
  readonly #bar: MenuBar;
  readonly #of: MenuOf;
  /** The element that had the focus before. */
  #before: Element | null = null;

  /** Made with its component, and kept in the menu bar of the system, where there is one. */
  constructor(bar: MenuBar, of: MenuOf) {
    this.#bar = bar;
    this.#of = of;
    bar.follow(this);
  }

  items(): readonly MenuItem[] {
    return this.#of.items();
  }

  entries(): MenuEntry[] {
    return this.#of.entries();
  }

  /** The menu bar of the system has the entries, so the window shows none. */
  get isInBar(): boolean {
    return this.#bar.isShown;
  }

  /** Reads again what its entries need. */
  refresh(): void {
    this.#of.onopen?.();
  }

  /** Opens the menu, or closes it. Below a dialog it cannot be used. */
  toggle(before = document.activeElement): void {
    if (this.isOpen) return this.close();
    if (this.isInBar || document.querySelector('dialog[open]') !== null) return;
    this.#before = before;
    this.isOpen = true;
    this.#of.onopen?.();
  }

  /** Closes the menu; the focus goes back to where it was. */
  close(): void {
    this.isOpen = false;
    if (this.#before instanceof HTMLElement) this.#before.focus({ preventScroll: true });
  }

  pick(id: string): void {
    this.close();
    this.#of.pick(id);
  }

  /** Does what an entry of the menu bar says. The focus is where it was. */
  choose(id: string): void {
    this.#of.pick(id);
  }
}

const KEY = Symbol('the menu of the window');

/** The menu of the window; a component that is drawn alone has none. */
export const getMenu = () => getContext<WindowMenu | undefined>(KEY);
export const setMenu = (menu: WindowMenu): WindowMenu => setContext(KEY, menu);
