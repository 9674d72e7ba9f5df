// Side questions: where they can be asked, and the slash command for them.

import type { Attachment, Session } from '../bindings/api';

/** Why no side question can be asked, as a sentence; `null` if one can. `isWatching`: another program has it open. */
export function noSideQuestions(session: Session | null, isWatching: boolean): string | null {
  if (session === null) return 'No session is open.';
  if (isWatching) return 'Another program has this conversation open.';
  if (session.capabilities.sideQuestions) return null;
  if (session.agent === 'acp') return `${session.agentName} does not answer side questions in Deskbell.`;
  return 'This version of the agent does not answer side questions.';
}

/**
 * The side question in a prompt that begins with `/btw`; `null` if it is a prompt for the agent: one with attachments, and
 * `/btw` of an agent that lists a command with this name.
 */
export function asideIn(prompt: string, session: Session, attachments: readonly Attachment[]): string | null {
  const words = /^\s*\/btw(?:\s+([^]*))?$/.exec(prompt);
  if (words === null || attachments.length > 0) return null;
  if (session.commands.some(({ name }) => name === 'btw')) return null;
  return words[1]?.trim() ?? '';
}
