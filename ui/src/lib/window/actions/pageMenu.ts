// The menu of a window without a project: the start page and the board.

import { barOf, pageMenu, type PageActs } from './menu';
import { setMenu, WindowMenu } from '../../project/menu.svelte';
import type { MenuBar } from '../../project/menuBar.svelte';

/** Gives the window a menu of `acts`. Returns them, with the one that opens the menu. */
export function setPageMenu(bar: MenuBar, acts: PageActs): PageActs {
  const all: PageActs = { ...acts, menu: () => menu.toggle() };
  const items = () => pageMenu(all);
  const pick = (id: string) => all[id]?.();
  const menu = setMenu(new WindowMenu(bar, { items, entries: () => barOf(items()), pick }));
  return all;
}
