// Windows that are loaded when shown. The project's window comes with the page.

import { Later } from './lib/kit/later.svelte';

export const BOARD = new Later(() => import('./lib/window/board/BoardWindow.svelte'));
export const START = new Later(() => import('./lib/window/start/StartWindow.svelte'));
