// The parts of a project's window that are loaded when they are first shown.

import { Later } from '../../kit/later.svelte';

export const BAD = new Later(() => import('../../project/pages/BadProject.svelte'));
export const CONNECTION = new Later(() => import('../../project/machines/ConnectionDialog.svelte'));
/** All dialogs but the palette, into which the user may type at once. */
export const DIALOGS = new Later(() => import('./WindowDialogs.svelte'));
export const MISSING = new Later(() => import('../../project/pages/MissingAgent.svelte'));
export const ORPHANS = new Later(() => import('./OrphansBanner.svelte'));
export const REMOVE = new Later(() => import('../../project/sessions/ConfirmRemove.svelte'));
/** The errors of the settings file. */
export const SETTINGS_FILE = new Later(() => import('../settings/SettingsFileBanner.svelte'));
export const SIDE = new Later(() => import('../../session/side/SidePanel.svelte'));
export const TRUST = new Later(() => import('../../project/trust/TrustPage.svelte'));
