// What was typed and attached and not sent, for each session. It outlives the window.

import type { SessionId } from '../bindings/api';
import { KeptAttachments, NOWHERE, type Attachment, type AttachmentStore } from './attachments';

const KEY = 'deskbell.draft.';

export class Draft {
  #attachments = $state.raw<readonly Attachment[]>([]);
  #text = $state('');
  #key: string;
  #storage: Storage;
  #store: AttachmentStore;
  /** Sent, and not yet accepted: kept should the window go away before the answer. */
  #taken: readonly Attachment[] = [];
  #forgotten = false;

  constructor(key: string, storage: Storage, store: AttachmentStore = NOWHERE) {
    this.#key = KEY + key;
    this.#storage = storage;
    this.#store = store;
    this.#text = storage.getItem(this.#key) ?? '';
    void store.read(this.#key).then((kept) => {
      if (kept.length === 0 || this.#forgotten) return;
      // Somebody may have been quicker with another one.
      if (this.#attachments.length > 0) this.attachments = [...kept, ...this.#attachments];
      else this.#attachments = kept;
    });
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.keep(text);
  }

  get attachments(): readonly Attachment[] {
    return this.#attachments;
  }

  set attachments(attachments: readonly Attachment[]) {
    this.#attachments = attachments;
    this.#store.write(this.#key, [...this.#taken, ...attachments]);
  }

  get empty(): boolean {
    return this.#text.trim() === '' && this.#attachments.length === 0;
  }

  /** Empties the box; what was in it stays kept until `settle`, should the window go away before the answer. */
  take(): { text: string; attachments: readonly Attachment[] } {
    const taken = { text: this.#text, attachments: this.#attachments };
    this.#text = '';
    this.#taken = this.#attachments;
    this.#attachments = [];
    return taken;
  }

  /** The prompt was accepted: forget it. */
  settle(): void {
    this.#taken = [];
    this.attachments = this.#attachments;
    this.keep(this.#text);
  }

  /** The prompt was refused: put it back before whatever was typed since. */
  giveBack(taken: { text: string; attachments: readonly Attachment[] }): void {
    this.#taken = [];
    this.text = [taken.text, this.#text].filter((text) => text !== '').join('\n');
    this.attachments = [...taken.attachments, ...this.#attachments];
  }

  private keep(text: string): void {
    try {
      if (text === '') this.#storage.removeItem(this.#key);
      else this.#storage.setItem(this.#key, text);
    } catch {
      // A full storage must not stop anyone from typing; the draft then lives as long as the window.
    }
  }

  /** Forgets all of it, for good. */
  forget(): void {
    this.#forgotten = true;
    this.#storage.removeItem(this.#key);
    this.#store.write(this.#key, []);
  }
}

/** The drafts of a window. */
export class Drafts {
  #drafts = new Map<string, Draft>();
  #storage: Storage;
  #store: AttachmentStore;

  constructor(storage: Storage = localStorage, store: AttachmentStore = kept()) {
    this.#storage = storage;
    this.#store = store;
  }

  /** The draft of a session; `null` is the one that will become a new session. */
  of(sessionId: SessionId | null, project: string): Draft {
    const key = sessionId ?? `new:${project}`;
    let draft = this.#drafts.get(key);
    if (draft === undefined) {
      draft = new Draft(key, this.#storage, this.#store);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  forget(sessionId: SessionId): void {
    const draft = this.#drafts.get(sessionId) ?? new Draft(sessionId, this.#storage, this.#store);
    draft.forget();
    this.#drafts.delete(sessionId);
  }
}

function kept(): AttachmentStore {
  return typeof indexedDB === 'undefined' ? NOWHERE : new KeptAttachments(indexedDB);
}
