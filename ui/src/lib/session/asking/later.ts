// The parts of request cards that are loaded when they are first shown.

import { Later } from '../../kit/later.svelte';

/** Forms are rare: few MCP servers ask for them. */
export const FORM = new Later(() => import('./FormContent.svelte'));
