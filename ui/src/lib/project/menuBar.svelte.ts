// The menu of this window in the menu bar of the system, where the system has one bar for all windows.

import type { MenuEntry, WindowEvent } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import type { Problems } from '../session/problems.svelte';
import type { WindowMenu } from './menu.svelte';

/** Least time between two menus that are made, in milliseconds. While an answer streams there are many changes. */
const TOGETHER = 200;

export class MenuBar {
  /** The bar has the menu, so the page needs no button for it. */
  isShown = $state(false);
  readonly #host: Pick<Host, 'hasMenuBar' | 'setMenu'>;
  readonly #problems: Problems;
  #menu: WindowMenu | null = null;
  /** Makes the menu again. */
  #turn = $state(0);
  /** The menu that was sent last. */
  #sent = '';

  constructor(host: Pick<Host, 'hasMenuBar' | 'setMenu'>, problems: Problems) {
    this.#host = host;
    this.#problems = problems;
  }

  /** Keeps the bar like this menu. Call it while a component is made. */
  follow(menu: WindowMenu): void {
    if (!this.#host.hasMenuBar) return;
    this.#menu = menu;
    menu.refresh();
    let madeAt = -Infinity;
    $effect(() => {
      void this.#turn;
      const wait = madeAt + TOGETHER - performance.now();
      if (wait > 0) {
        // Nothing of the menu is read until then, so no further change makes it again.
        const timer = setTimeout(() => (this.#turn += 1), wait);
        return () => clearTimeout(timer);
      }
      madeAt = performance.now();
      void this.#send(menu.entries());
      return undefined;
    });
  }

  hear(event: WindowEvent): void {
    if (event.type === 'menuChosen') this.#menu?.choose(event.id);
  }

  async #send(entries: MenuEntry[]): Promise<void> {
    const sent = JSON.stringify(entries);
    if (sent === this.#sent) return;
    this.#sent = sent;
    try {
      this.isShown = await this.#host.setMenu(entries);
    } catch (reason) {
      // The page keeps its own menu.
      this.isShown = false;
      this.#sent = '';
      this.#problems.report('The menu bar was not changed', asCommandError(reason));
    }
  }
}
