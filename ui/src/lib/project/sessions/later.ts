// The parts of the session list that are loaded when they are first shown.

import { Later } from '../../kit/later.svelte';

export const SELECTION = new Later(() => import('./SelectionBar.svelte'));
