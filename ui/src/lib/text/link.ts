// The link to a session in a server, in words.

import type { SessionLink, Status } from '../bindings/api';
import { statusWord } from './status';
import { elapsed } from './time';

/** The link to a session that runs in a server, in words. */
export interface LinkWords {
  /** Announced by a screen reader. It stays the same from one attempt to the next. */
  label: string;
  /** Follows the label on the screen. It changes each second, so it is not announced. */
  detail: string;
  title: string;
  isLost: boolean;
}

const LOST = 'The connection is lost. The session goes on, and what you send now is sent when it is back';

/** Whether what the window shows of the session may be out of date. */
export function isLinkLost(link: SessionLink): boolean {
  return link.type !== 'here' && link.type !== 'connected';
}

/** `null` for a session that runs in the window's own process. */
export function linkWords(link: SessionLink, now: number): LinkWords | null {
  switch (link.type) {
    case 'here':
      return null;
    case 'connected':
      return { label: 'Keeps running', detail: '', title: 'Goes on when Deskbell closes', isLost: false };
    case 'connecting':
    case 'waiting':
      return {
        label: 'Reconnecting',
        detail: link.type === 'waiting' ? wait(link.at - now) : '…',
        title: `${LOST}${link.type === 'waiting' && link.attempt > 1 ? ` (attempt ${link.attempt})` : ''}`,
        isLost: true,
      };
    case 'incompatible':
      return {
        label: `Runs in Deskbell ${link.version}`,
        detail: '',
        title: 'This version cannot talk to it. “deskbell sessions stop” of that version ends it',
        isLost: true,
      };
  }
}

/** “ in 8 s”. */
function wait(ms: number): string {
  return ms > 0 ? ` in ${elapsed(Math.ceil(ms / 1000) * 1000)}` : '…';
}

/** The status of a session whose link is lost: the last one that was received. */
export function lastSeen(status: Status): string {
  return `${statusWord(status)} when last seen`;
}
