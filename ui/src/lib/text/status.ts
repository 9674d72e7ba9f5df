// Whose turn it is, in the words and shapes that are the same everywhere.

import type { Status } from '../bindings/api';

/** The shape of the mark beside a session. */
export type Mark = 'none' | 'working' | 'waiting' | 'done' | 'failed' | 'stopped';

/** One word or two: for the window's title and for screen readers. */
export function statusWord(status: Status): string {
  switch (status.type) {
    case 'idle':
      return 'Ready';
    case 'starting':
      return 'Starting';
    case 'working':
      return 'Working';
    case 'interrupting':
      return 'Stopping';
    case 'needsInput':
      return 'Needs input';
    case 'completed':
      return 'Done';
    case 'failed':
      return 'Failed';
    case 'restarting':
      return 'Restarting';
    case 'stopping':
      return 'Stopping';
    case 'stopped':
      return 'Stopped';
  }
}

/** What a screen reader hears when the status changes. */
export function statusSentence(status: Status): string {
  switch (status.type) {
    case 'needsInput':
      return `Needs input: ${status.what}`;
    case 'failed':
      return `Failed: ${status.message}`;
    case 'restarting':
      return `The agent stopped unexpectedly and is started again, attempt ${status.attempt}`;
    default:
      return statusWord(status);
  }
}

/** A second line in the session list, where there is more to say. */
export function statusReason(status: Status): string | null {
  switch (status.type) {
    case 'needsInput':
      return status.what;
    case 'failed':
      return status.message;
    case 'restarting':
      return `Starting again, attempt ${status.attempt}`;
    default:
      return null;
  }
}

export function statusMark(status: Status): Mark {
  switch (status.type) {
    case 'idle':
      return 'none';
    case 'starting':
    case 'working':
    case 'interrupting':
    case 'restarting':
    case 'stopping':
      return 'working';
    case 'needsInput':
      return 'waiting';
    case 'completed':
      return 'done';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'stopped';
  }
}

/** Is there a turn that can be interrupted? */
export function isTurnRunning(status: Status): boolean {
  return status.type === 'working' || status.type === 'needsInput' || status.type === 'interrupting';
}

/** Did the last turn come to an end that should be looked at? */
export function isOver(status: Status): boolean {
  return status.type === 'completed' || status.type === 'failed';
}

/** The window's title. */
export function windowTitle(status: Status | null, session: string | null, project: string): string {
  if (status === null || session === null) return `${project} — Deskbell`;
  return `${statusWord(status)} · ${session} — ${project}`;
}
