// The session list by days, newest first.

import type { Session } from '../bindings/api';
import { day } from '../text/time';

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
  for (const session of sessions.toSorted((a, b) => b.changedAt - a.changedAt)) {
    groups.find((group) => group.name === day(session.changedAt, now))?.sessions.push(session);
  }
  return groups.filter((group) => group.sessions.length > 0);
}
