// The parts of the prompt box that are loaded when they are first shown.

import { Later } from '../../kit/later.svelte';

export const ATTACHMENT = new Later(() => import('./AttachmentDialog.svelte'));
export const ATTACHMENTS = new Later(() => import('./AttachmentList.svelte'));
export const QUEUE = new Later(() => import('./QueueList.svelte'));
