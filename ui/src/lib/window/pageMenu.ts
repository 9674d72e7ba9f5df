// The menu of a window without a project: the start page and the board.

import { pageMenu, type PageActs } from '../actions/menu';
import { setMenu, WindowMenu } from './menu.svelte';

/** Gives the window a menu of `acts`. Returns them, with the one that opens the menu. */
export function setPageMenu(acts: PageActs): PageActs {
  const all: PageActs = { ...acts, menu: () => menu.toggle() };
  const menu = setMenu(
    new WindowMenu(
      () => pageMenu(all),
      (id) => all[id]?.(),
    ),
  );
  return all;
}
