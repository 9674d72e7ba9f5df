// The slash command that logs in, and the command for a terminal that it leads to.

import type { Profile, Session } from '../bindings/api';
import { CLAUDE_LOGIN } from '../bindings/agents';

export function isLogin(prompt: string): boolean {
  return prompt.trim() === '/login';
}

/** Whether `/login` in this session opens the dialog. Otherwise its agent gets it as a prompt. */
export function hasLogin(session: Session): boolean {
  return session.agent === 'claude' || session.login !== null;
}

/** A word as a POSIX shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * The command of a session's agent, as it is run. Of a profile's variables it sets those that name a place: others may
 * be keys.
 */
export function loginCommand(session: Session, profiles: readonly Profile[]): string | null {
  const command = session.agent === 'claude' ? CLAUDE_LOGIN : session.login?.words.map(quoted).join(' ');
  if (command === undefined) return null;
  const profile = profiles.find(({ name }) => name === session.profile);
  const places = (profile?.environment ?? []).filter(({ value }) => /^(?:\/|[A-Za-z]:\\)/.test(value));
  const variables = places.map(({ name, value }) => `${name}=${quoted(value)}`);
  return [...variables, command].join(' ');
}
