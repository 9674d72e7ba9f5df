// Attachments of drafts, stored in IndexedDB: they are too large for local storage.

import type { Attachment } from '../bindings/api';
import { plainPath } from '../text/reveal';

/** An image or a document in a draft. */
export interface DraftAttachment extends Attachment {
  id: number;
  name: string;
}

/** The kinds of attachments that an agent accepts. */
export interface Accepted {
  images: boolean;
  documents: boolean;
}

/** What is accepted before a session says what its agent accepts; the engine checks it again. */
export const EVERYTHING: Accepted = { images: true, documents: true };

/** The data that one prompt can have, as the engine limits it: about 21 MB of files. */
const MAX_TOGETHER = 28 * 1024 * 1024;

let nextId = 1;

/** Makes an attachment of a draft, whose name is shown. */
export function drafted(name: string, attachment: Attachment): DraftAttachment {
  return { ...attachment, id: nextId++, name };
}

export const isImage = ({ mediaType }: Attachment) => mediaType.startsWith('image/');

export const isText = ({ mediaType }: Attachment) => mediaType === 'text/plain';

/** The name of an attachment with each character visible, or its kind if it has none. */
export const nameOf = (attachment: Attachment) =>
  plainPath(attachment.name ?? '') || (isImage(attachment) ? 'Image' : 'Document');

/** Why an attachment cannot be added to these, in words; `null` if it can. */
export function refusal(added: DraftAttachment, others: readonly DraftAttachment[], accepted: Accepted): string | null {
  if (!accepted.images && !accepted.documents) {
    return `This agent accepts text only, so ${added.name} was not attached.`;
  }
  if (isImage(added) && !accepted.images) return `This agent accepts no images, so ${added.name} was not attached.`;
  if (!isImage(added) && !accepted.documents) {
    return `This agent accepts no documents, so ${added.name} was not attached. Write its path into the prompt instead.`;
  }
  return tooMuch(added, others);
}

/** Why these are too much for one prompt, in words. Every agent takes a pasted text, so this is the only limit of one. */
export function tooMuch(added: DraftAttachment, others: readonly DraftAttachment[]): string | null {
  const together = [added, ...others].reduce((sum, { data }) => sum + data.length, 0);
  if (together > MAX_TOGETHER) {
    return `${added.name} was not attached: with one prompt the agent takes about 21 MB of files.`;
  }
  return null;
}

/** Storage in which the attachments of drafts outlive the window. */
export interface AttachmentStore {
  read(draft: string): Promise<readonly DraftAttachment[]>;
  /** The last write wins, whichever operations are still pending. */
  write(draft: string, attachments: readonly DraftAttachment[]): void;
}

const NAME = 'deskbell.drafts';
const TABLE = 'attachments';

export class KeptAttachments implements AttachmentStore {
  #database: Promise<IDBDatabase>;

  constructor(factory: IDBFactory) {
    this.#database = new Promise((resolve, reject) => {
      const opening = factory.open(NAME, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error ?? new Error('no database'));
    });
    // `read` and `write` handle a rejection themselves.
    this.#database.catch(() => {});
  }

  async read(draft: string): Promise<readonly DraftAttachment[]> {
    try {
      const table = (await this.#database).transaction(TABLE).objectStore(TABLE);
      const kept = await new Promise<DraftAttachment[] | undefined>((resolve, reject) => {
        const asked = table.get(draft);
        asked.onsuccess = () => resolve(asked.result as DraftAttachment[] | undefined);
        asked.onerror = () => reject(asked.error ?? new Error('not read'));
      });
      // Assign new ids: those of an earlier window may be taken in this one.
      return (kept ?? []).map(({ name, mediaType, data }) => drafted(name, { mediaType, data }));
    } catch {
      // Without a database, or with a full one, a draft lives only as long as the window.
      return [];
    }
  }

  write(draft: string, attachments: readonly DraftAttachment[]): void {
    // Writes stay in order: all wait for the same promise, and transactions on one object store run one at a time.
    this.#database.then(
      (database) => {
        const table = database.transaction(TABLE, 'readwrite').objectStore(TABLE);
        if (attachments.length === 0) table.delete(draft);
        else table.put([...attachments], draft);
      },
      () => {
        // As in `read`.
      },
    );
  }
}

/** A store that keeps nothing, for environments without a database. */
export const NOWHERE: AttachmentStore = { read: () => Promise.resolve([]), write: () => {} };
