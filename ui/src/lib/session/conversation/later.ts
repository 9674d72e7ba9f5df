// The parts of a conversation that are loaded when they are first shown.

import { Later } from '../../kit/later.svelte';

export const AGENT = new Later(() => import('./AgentDialog.svelte'));
export const CONFIGURATION = new Later(() => import('../configuration/ConfigurationDialog.svelte'));
export const CONTEXT = new Later(() => import('../usage/ContextDialog.svelte'));
/** Why the agent cannot work. */
export const OBSTACLE = new Later(() => import('./Obstacle.svelte'));
export const OPTIONS = new Later(() => import('../options/OptionsDialog.svelte'));
/** The note about a recording of the session. */
export const RECORDING = new Later(() => import('./RecordingNote.svelte'));
export const REWIND = new Later(() => import('../rewind/RewindDialog.svelte'));
export const RULES = new Later(() => import('../rules/RulesDialog.svelte'));
export const SENT_ATTACHMENTS = new Later(() => import('./SentAttachments.svelte'));
export const SIDE_QUESTIONS = new Later(() => import('./SideQuestions.svelte'));
export const WITHOUT_ASKING = new Later(() => import('./WithoutAsking.svelte'));
