// Attachments of drafts, stored in IndexedDB: images are too large for local storage.

import type { Image } from '../bindings/api';

/** An image in a draft. */
export interface Attachment {
  id: number;
  name: string;
  mediaType: string;
  /** Base64, without a `data:` prefix. */
  data: string;
}

let nextId = 1;

/** Makes an attachment of a checked image. */
export function attachment(name: string, image: Image): Attachment {
  return { id: nextId++, name, ...image };
}

/** Storage in which the attachments of drafts outlive the window. */
export interface AttachmentStore {
  read(draft: string): Promise<readonly Attachment[]>;
  /** The last write wins, whichever operations are still pending. */
  write(draft: string, attachments: readonly Attachment[]): void;
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

  async read(draft: string): Promise<readonly Attachment[]> {
    try {
      const table = (await this.#database).transaction(TABLE).objectStore(TABLE);
      const kept = await new Promise<Attachment[] | undefined>((resolve, reject) => {
        const asked = table.get(draft);
        asked.onsuccess = () => resolve(asked.result as Attachment[] | undefined);
        asked.onerror = () => reject(asked.error ?? new Error('not read'));
      });
      // Assign new ids: those of an earlier window may be taken in this one.
      return (kept ?? []).map(({ name, mediaType, data }) => attachment(name, { mediaType, data }));
    } catch {
      // Without a database, or with a full one, a draft lives only as long as the window.
      return [];
    }
  }

  write(draft: string, attachments: readonly Attachment[]): void {
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
