// The order and grouping of the session list: by day, newest first.

import type { Session } from '../bindings/api';
import { day } from '../text/time';

/**
 * Sorts sessions newest first. A session with a running turn is sorted by the start of that turn. If every event moved
 * it, two running sessions would swap places all the time.
 */
export function inOrder(sessions: readonly Session[]): Session[] {
  const moment = (session: Session) => session.turnStartedAt ?? session.changedAt;
  return sessions.toSorted((a, b) => moment(b) - moment(a));
}

export interface SessionGroup {
  name: 'Today' | 'Yesterday' | 'Earlier';
  sessions: Session[];
}

export function groupSessions(sessions: readonly Session[], now: number): SessionGroup[] {
  const groups: SessionGroup[] = [
    { name: 'Today', sessions: [] },
    { name: 'Yesterday', sessions: [] },
    { name: 'Earlier', sessions: [] },
  ];
  for (const session of inOrder(sessions)) {
    groups.find((group) => group.name === day(session.changedAt, now))?.sessions.push(session);
  }
  return groups.filter((group) => group.sessions.length > 0);
}
