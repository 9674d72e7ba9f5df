// The link to a session in a server, in words.

import type { SessionLink } from '../bindings/api';

/** The link to a session that runs in a server, in words: a short text and a longer one. */
export interface LinkWords {
  label: string;
  title: string;
  isLost: boolean;
}

/** `null` for a session that runs in the window's own process. */
export function linkWords(link: SessionLink): LinkWords | null {
  switch (link.type) {
    case 'here':
      return null;
    case 'connected':
      return { label: 'Keeps running', title: 'Goes on when Deskbell closes', isLost: false };
    case 'connecting':
    case 'waiting':
      return {
        label: 'Reconnecting…',
        title: 'The connection is lost. The session goes on, and what you send now is sent when it is back',
        isLost: true,
      };
    case 'incompatible':
      return {
        label: `Runs in Deskbell ${link.version}`,
        title: 'This version cannot talk to it. “deskbell sessions stop” of that version ends it',
        isLost: true,
      };
  }
}
