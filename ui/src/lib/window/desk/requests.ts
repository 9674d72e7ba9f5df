// Permission requests of the window: going to the one that waits, and answering it by key.

import { isCovered, pressArmed } from '../../session/asking/arming.svelte';
import type { Session } from '../../bindings/api';
import type { ProjectState } from '../../project/project.svelte';
import type { Answer } from '../actions/action';

const hasRequest = (session: Session) => session.requests.length > 0;

/** Scrolls the card of a request into view and gives it the focus. */
export function showRequest(id: string): void {
  const card = document.getElementById(`request-${id}`);
  card?.scrollIntoView?.({ block: 'nearest' });
  card?.focus();
}

/** Shows the request that waits: one of the open session, else of another session, else of another project. */
export function showWaiting(project: ProjectState): void {
  const { open } = project;
  const session = open !== null && open.requests.length > 0 ? null : project.sessions.find(hasRequest);
  const request = session === null ? open?.requests[0] : session?.requests[0];
  if (request === undefined) return void project.showWaitingElsewhere();
  project.trust.hide();
  project.creation.missing = null;
  project.shownRequest = request.id;
  if (session) void project.openSession(session.id);
}

/** The card that keys answer: the one with the focus, or else the first. */
function answeredCard(project: ProjectState): HTMLElement | null {
  const focused = document.activeElement?.closest<HTMLElement>('[id^="request-"]');
  return focused ?? document.getElementById(`request-${project.open?.requests[0]?.id}`);
}

/**
 * Answers the request that waits, by this key. One that was not in view for long enough when the key was
 * pressed, or cannot be given that answer, is shown instead; `onwaiting` shows one of another session.
 */
export function answer(project: ProjectState, which: Answer, onwaiting: () => void, key: KeyboardEvent | null): void {
  // A key that is held down answers no further request.
  if (key?.repeat === true) return;
  const card = answeredCard(project);
  const button = card?.querySelector<HTMLElement>(`[data-answer="${which}"]`);
  if (pressArmed(button, key)) return;
  if (card === null || isCovered()) onwaiting();
  else showRequest(card.id.slice('request-'.length));
}
