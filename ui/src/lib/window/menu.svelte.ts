// The menu of a window: its entries, and whether it is open.

import { getContext, setContext } from 'svelte';

import type { MenuItem } from '../kit/MenuList.svelte';

export class WindowMenu {
  isOpen = $state(false);
  readonly items: () => readonly MenuItem[];
  #pick: (id: string) => void;
  #onopen: () => void;
  /** The element that had the focus before. */
  #before: Element | null = null;

  constructor(items: () => readonly MenuItem[], pick: (id: string) => void, onopen = () => {}) {
    this.items = items;
    this.#pick = pick;
    this.#onopen = onopen;
  }

  /** Opens the menu, or closes it. Below a dialog it cannot be used. */
  toggle(before = document.activeElement): void {
    if (this.isOpen) return this.close();
    if (document.querySelector('dialog[open]') !== null) return;
    this.#before = before;
    this.isOpen = true;
    this.#onopen();
  }

  /** Closes the menu; the focus goes back to where it was. */
  close(): void {
    this.isOpen = false;
    if (this.#before instanceof HTMLElement) this.#before.focus({ preventScroll: true });
  }

  pick(id: string): void {
    this.close();
    this.#pick(id);
  }
}

const KEY = Symbol('the menu of the window');

/** The menu of the window; a component that is drawn alone has none. */
export const getMenu = () => getContext<WindowMenu | undefined>(KEY);
export const setMenu = (menu: WindowMenu): WindowMenu => setContext(KEY, menu);
