// Session status in words and shapes, the same everywhere.

import type { Status } from '../bindings/api';

/** The shape of the mark next to a session. */
export type Mark = 'none' | 'working' | 'waiting' | 'background' | 'done' | 'failed' | 'stopped';

/** One or two words, for the window title and for screen readers. */
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
    case 'interrupted':
      return 'Interrupted';
    case 'background':
      return 'Background work';
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

/** The announcement for screen readers when the status changes. */
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

/** A second line for the session list, if there is more to say. */
export function statusReason(status: Status): string | null {
  switch (status.type) {
    case 'needsInput':
      return status.what;
    case 'failed':
      return status.message;
    case 'restarting':
      return `Starting again, attempt ${status.attempt}`;
    case 'interrupted':
      return 'Interrupted';
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
    case 'background':
      return 'background';
    case 'failed':
      return 'failed';
    case 'interrupted':
    case 'stopped':
      return 'stopped';
  }
}

/** Whether a turn is running that can be interrupted. */
export function isTurnRunning(status: Status): boolean {
  return status.type === 'working' || status.type === 'needsInput' || status.type === 'interrupting';
}

/** Whether the last turn ended in a way that the user should look at. */
export function isOver(status: Status): boolean {
  return status.type === 'completed' || status.type === 'background' || status.type === 'failed';
}

/** The window's title. */
export function windowTitle(status: Status | null, session: string | null, project: string): string {
  if (status === null || session === null) return `${project} — Deskbell`;
  return `${statusWord(status)} · ${session} — ${project}`;
}
