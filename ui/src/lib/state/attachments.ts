// Images that wait in drafts, kept in the page's own database: they are too large for its storage of texts.

import type { Image } from '../bindings/api';

/** An image on its way into a prompt. */
export interface Attachment {
  id: number;
  name: string;
  mediaType: string;
  /** Base64, without a `data:` prefix. */
  data: string;
}

let nextId = 1;

/** An image that was checked, as it waits in a draft. */
export function attachment(name: string, image: Image): Attachment {
  return { id: nextId++, name, ...image };
}

/** Where the attachments of drafts outlive the window. */
export interface AttachmentStore {
  read(draft: string): Promise<readonly Attachment[]>;
  /** What is written later counts, whatever is still under way. */
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
    // Each use says so for itself; see below.
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
      // Numbers of an earlier window may be taken in this one.
      return (kept ?? []).map(({ name, mediaType, data }) => attachment(name, { mediaType, data }));
    } catch {
      // Without a database a draft lives as long as the window, as it does with a full one.
      return [];
    }
  }

  write(draft: string, attachments: readonly Attachment[]): void {
    // In order: each waits for the same promise, and transactions of one table run one after the other.
    this.#database.then(
      (database) => {
        const table = database.transaction(TABLE, 'readwrite').objectStore(TABLE);
        if (attachments.length === 0) table.delete(draft);
        else table.put([...attachments], draft);
      },
      () => {
        // As above.
      },
    );
  }
}

/** Keeps nothing: where there is no database. */
export const NOWHERE: AttachmentStore = { read: () => Promise.resolve([]), write: () => {} };
