// Keeps the changes of the open session up to date: they are read again after each turn, after each tool while they are
// shown, and when the user returns, because what runs may change files.

import { untrack } from 'svelte';

import type { ProjectState } from './project.svelte';

/** Milliseconds without activity before the changes are read: a tool makes several events. */
const SETTLED = 400;

/** Follows the changes for the life of a component. `areShown`: the user sees them. */
export function followChanges(project: ProjectState, areShown: () => boolean): void {
  $effect(() => {
    if (project.open !== null) void untrack(() => project.changes.working.reset());
  });
  const activity = $derived.by(() => {
    const { open } = project;
    if (open === null) return '';
    const turn = `${open.session.status.type} ${open.session.nBackground}`;
    return areShown() ? `${turn} ${open.files.length} ${open.held.total}` : turn;
  });
  $effect(() => {
    if (activity === '') return;
    const later = setTimeout(() => void project.changes.working.refresh(), SETTLED);
    return () => clearTimeout(later);
  });
}
