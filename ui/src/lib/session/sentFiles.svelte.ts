// The attachments of prompts that this window sent: a session keeps none of a prompt that its agent has.

import type { Attachment, SessionId } from '../bindings/api';

/** Prompts whose attachments are kept, and the most that they may have together, in characters. The oldest go first. */
const MOST_PROMPTS = 8;
const MOST_CHARACTERS = 64 * 1024 * 1024;

interface Sent {
  session: SessionId;
  text: string;
  attachments: readonly Attachment[];
  /** When it was sent, in milliseconds since the epoch. */
  at: number;
}

const size = ({ attachments }: Sent) => attachments.reduce((sum, { data }) => sum + data.length, 0);

export class SentFiles {
  #sent = $state.raw<readonly Sent[]>([]);

  /** `at`: when it was sent, before the answer to that. */
  keep(session: SessionId, text: string, attachments: readonly Attachment[], at: number): void {
    if (attachments.length === 0) return;
    const all = [...this.#sent, { session, text, attachments, at }].slice(-MOST_PROMPTS);
    while (all.reduce((sum, one) => sum + size(one), 0) > MOST_CHARACTERS) all.shift();
    this.#sent = all;
  }

  /**
   * The attachments of a prompt with this text and so many of them, which the session has since `at`; `null` if they are not
   * known. An earlier or later prompt with the same text may have had others. `isEnd`: only the end of the text is given.
   */
  of(session: SessionId, text: string, count: number, at: number, isEnd = false): readonly Attachment[] | null {
    const hasText = (one: Sent) => (isEnd ? one.text.endsWith(text) : one.text === text);
    const isIt = (one: Sent) =>
      one.session === session && one.attachments.length === count && one.at <= at && hasText(one);
    return this.#sent.findLast(isIt)?.attachments ?? null;
  }
}
