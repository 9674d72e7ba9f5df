// Drafts: unsent text, attachments and comments on changes, for each session. They outlive the window.

import type { SessionId } from '../bindings/api';
import { LineComments } from './comments.svelte';
import { KeptAttachments, NOWHERE, type DraftAttachment, type AttachmentStore } from './attachments';

const KEY = 'deskbell.draft.';
/** Added to a key: what is stored was sent, and the answer is not known yet. */
const SENT = '.sent';

export class Draft {
  /** Comments on lines of the session's changes. */
  readonly comments: LineComments;
  #attachments = $state.raw<readonly DraftAttachment[]>([]);
  #text = $state('');
  #key: string;
  #storage: Storage;
  #store: AttachmentStore;
  /** Attachments that were sent but not accepted yet. They stay stored in case the window closes before the answer. */
  #taken: readonly DraftAttachment[] = [];
  /** What an earlier window sent has arrived: it is not read again. */
  #hasArrived = false;
  /** The session was removed: what it has, or gets back, goes to this draft. */
  #heir: Draft | null = null;

  constructor(key: string, storage: Storage, store: AttachmentStore = NOWHERE) {
    this.#key = KEY + key;
    this.#storage = storage;
    this.#store = store;
    this.#text = storage.getItem(this.#key) ?? '';
    this.comments = new LineComments(key, storage);
    void store.read(this.#key).then((kept) => {
      if (kept.length === 0 || this.#hasArrived) return;
      if (this.#heir !== null) return this.#heir.add('', kept);
      // The user may have added an attachment before the stored ones were read.
      if (this.#attachments.length > 0) this.attachments = [...kept, ...this.#attachments];
      else this.#attachments = kept;
    });
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.write(text);
  }

  get attachments(): readonly DraftAttachment[] {
    return this.#attachments;
  }

  set attachments(attachments: readonly DraftAttachment[]) {
    this.#attachments = attachments;
    this.#store.write(this.#key, [...this.#taken, ...attachments]);
  }

  get empty(): boolean {
    return this.#text.trim() === '' && this.#attachments.length === 0;
  }

  /** Empties the box. Its content stays stored until `settle`, in case the window closes before the answer. */
  take(): { text: string; attachments: readonly DraftAttachment[] } {
    const taken = { text: this.#text, attachments: this.#attachments };
    this.write(taken.text, true);
    this.#text = '';
    this.#taken = this.#attachments;
    this.#attachments = [];
    return taken;
  }

  /** The prompt was accepted: deletes the stored copy. */
  settle(): void {
    this.#taken = [];
    this.attachments = this.#attachments;
    this.write(this.#text);
  }

  /**
   * Forgets a prompt that an earlier window sent without hearing that it was accepted, if it is one of these: a page that was
   * killed in that moment must not offer it again.
   */
  arrived(prompts: readonly string[]): void {
    const sent = this.#text.trim();
    const isSent = this.#storage.getItem(this.#key + SENT) !== null && sent !== '';
    if (!isSent || !prompts.some((prompt) => prompt.trim() === sent)) return;
    this.#hasArrived = true;
    this.text = '';
    this.attachments = [];
  }

  /** The prompt was refused: puts it back in front of anything typed since. */
  giveBack(taken: { text: string; attachments: readonly DraftAttachment[] }): void {
    if (this.#heir !== null) return this.#heir.giveBack(taken);
    this.#taken = [];
    this.#addFirst(taken.text, taken.attachments);
  }

  #addFirst(text: string, attachments: readonly DraftAttachment[]): void {
    this.text = [text, this.#text].filter((part) => part !== '').join('\n');
    this.attachments = [...attachments, ...this.#attachments];
  }

  /** Stores a text; an empty one is deleted. `isSent`: it was sent, and the answer is not known yet. */
  private write(text: string, isSent = false): void {
    const set = (key: string, value: string) =>
      value === '' ? this.#storage.removeItem(key) : this.#storage.setItem(key, value);
    try {
      set(this.#key + SENT, isSent ? '1' : '');
      set(this.#key, text);
    } catch {
      // Full storage must not block typing; the draft then lives only as long as the window.
    }
  }

  /** Adds a text and attachments at the end. */
  add(text: string, attachments: readonly DraftAttachment[]): void {
    if (text !== '') this.text = this.#text === '' ? text : `${this.#text}\n${text}`;
    if (attachments.length > 0) this.attachments = [...this.#attachments, ...attachments];
  }

  /** Moves everything to another draft, also what is given back or read later. `isFirst`: in front of what is there. */
  moveTo(heir: Draft, isFirst = false): void {
    if (isFirst && !this.empty) heir.#addFirst(this.#text, this.#attachments);
    else if (!this.empty) heir.add(this.#text, this.#attachments);
    this.comments.moveTo(heir.comments);
    this.#heir = heir;
    this.#text = '';
    this.#attachments = [];
    this.write('');
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

  /** The draft of a session; `null` is the draft for the next new session. */
  of(sessionId: SessionId | null, project: string): Draft {
    const key = keyOf(sessionId, project);
    let draft = this.#drafts.get(key);
    if (draft === undefined) {
      draft = new Draft(key, this.#storage, this.#store);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  /** A new session is opened: what was written for it is its draft. */
  begin(sessionId: SessionId, project: string): void {
    this.of(null, project).moveTo(this.of(sessionId, project));
    this.#drafts.delete(keyOf(null, project));
  }

  /**
   * Another session takes the place of an empty one: what was written is for it, before what was written while it was
   * created.
   */
  move(from: SessionId, to: SessionId, project: string): void {
    this.of(from, project).moveTo(this.of(to, project), true);
    this.#drafts.delete(from);
  }

  /** Another window shows the session from now on. Its draft stays stored, and is read again when it is shown here. */
  release(sessionId: SessionId): void {
    this.#drafts.delete(sessionId);
  }

  /** The session was removed: its unsent text becomes that of the next new session. */
  forget(sessionId: SessionId, project: string): void {
    this.of(sessionId, project).moveTo(this.of(null, project));
    this.#drafts.delete(sessionId);
  }
}

const keyOf = (sessionId: SessionId | null, project: string) => sessionId ?? `new:${project}`;

function kept(): AttachmentStore {
  return typeof indexedDB === 'undefined' ? NOWHERE : new KeptAttachments(indexedDB);
}
