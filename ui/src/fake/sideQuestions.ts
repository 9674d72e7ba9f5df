// Side questions of the fake host.

import type { Command, CommandError, SideOutcome, SideQuestion } from '../lib/bindings/api';
import { document } from './markdown';
import type { FakeSession } from './session';

/** A question that begins with it gets no answer until it is cancelled. */
const SLOW = 'wait';

export const answered = (text: string): SideOutcome => ({
  type: 'answered',
  text,
  blocks: document(text),
  isCut: false,
});

export const sideQuestion = (question: string, outcome: SideOutcome, id = question): SideQuestion => ({
  id,
  question,
  purpose: 'reading',
  askedAt: Date.now(),
  outcome,
});

export const WAITING: SideOutcome = { type: 'waiting', retry: null };

/** Ends a side question that waits. */
export function endSide(session: FakeSession, id: string, outcome: SideOutcome): void {
  const sideQuestions = session.facts.sideQuestions.map((one) =>
    one.id === id && one.outcome.type === 'waiting' ? { ...one, outcome } : one,
  );
  session.patch({ sideQuestions });
}

export function askSide(session: FakeSession, command: Extract<Command, { type: 'askSide' }>): CommandError | null {
  const { id, question, purpose } = command;
  if (question.trim() === '') return { code: 'badCommand', message: 'The side question is empty.', detail: null };
  const asked = { ...sideQuestion(question, WAITING, id), purpose };
  session.patch({ alive: true, sideQuestions: [...session.facts.sideQuestions, asked] });
  if (question.startsWith(SLOW)) return null;
  const text =
    purpose === 'commitMessage'
      ? '```\nRound half to even in totals\n\nThe bank does it that way.\n```'
      : 'The totals are rounded in `src/money.rs`, **half to even**, as the bank does it.';
  setTimeout(() => endSide(session, id, answered(text)), 0);
  return null;
}

export function cancelSide(session: FakeSession, id: string): CommandError | null {
  const isWaiting = session.facts.sideQuestions.some((one) => one.id === id && one.outcome.type === 'waiting');
  if (!isWaiting) {
    return { code: 'badCommand', message: 'This side question does not wait for an answer.', detail: null };
  }
  endSide(session, id, { type: 'cancelled' });
  return null;
}
