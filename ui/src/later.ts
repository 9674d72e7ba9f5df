// The windows that are loaded when they are shown. That of a project is the usual one, and comes with the page.

import { Later } from './lib/kit/later.svelte';

export const BOARD = new Later(() => import('./lib/window/board/BoardWindow.svelte'));
export const START = new Later(() => import('./lib/window/start/StartWindow.svelte'));
