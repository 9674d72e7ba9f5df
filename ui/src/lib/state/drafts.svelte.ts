// What was typed and not sent, for each session. The text outlives the window; attachments live as long as it does.

import type { SessionId } from '../bindings/api';

const KEY = 'deskbell.draft.';

/** An image on its way into a prompt. */
export interface Attachment {
  id: number;
  name: string;
  mediaType: string;
  /** Base64, without a `data:` prefix. */
  data: string;
}

export class Draft {
  attachments = $state.raw<readonly Attachment[]>([]);
  #text = $state('');
  #key: string;
  #storage: Storage;

  constructor(key: string, storage: Storage) {
    this.#key = KEY + key;
    this.#storage = storage;
    this.#text = storage.getItem(this.#key) ?? '';
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.keep(text);
  }

  get empty(): boolean {
    return this.#text.trim() === '' && this.attachments.length === 0;
  }

  /** Empties the box; what was in it stays in storage until `settle`, should the window go away before the answer. */
  take(): { text: string; attachments: readonly Attachment[] } {
    const taken = { text: this.#text, attachments: this.attachments };
    this.#text = '';
    this.attachments = [];
    return taken;
  }

  /** The prompt was accepted: forget it. */
  settle(): void {
    this.keep(this.#text);
  }

  /** The prompt was refused: put it back before whatever was typed since. */
  giveBack(taken: { text: string; attachments: readonly Attachment[] }): void {
    this.text = [taken.text, this.#text].filter((text) => text !== '').join('\n');
    this.attachments = [...taken.attachments, ...this.attachments];
  }

  private keep(text: string): void {
    try {
      if (text === '') this.#storage.removeItem(this.#key);
      else this.#storage.setItem(this.#key, text);
    } catch {
      // A full storage must not stop anyone from typing; the draft then lives as long as the window.
    }
  }
}

/** The drafts of a window. */
export class Drafts {
  #drafts = new Map<string, Draft>();
  #storage: Storage;

  constructor(storage: Storage = localStorage) {
    this.#storage = storage;
  }

  /** The draft of a session; `null` is the one that will become a new session. */
  of(sessionId: SessionId | null, project: string): Draft {
    const key = sessionId ?? `new:${project}`;
    let draft = this.#drafts.get(key);
    if (draft === undefined) {
      draft = new Draft(key, this.#storage);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  forget(sessionId: SessionId): void {
    this.#drafts.delete(sessionId);
    this.#storage.removeItem(KEY + sessionId);
  }
}
