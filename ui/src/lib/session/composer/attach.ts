// Files from the clipboard, a chooser or a drop, prepared as attachments. The host determines their real type.

import type { Attachment } from '../../bindings/api';
import { asCommandError } from '../../host/host';
import { drafted, type Accepted, type DraftAttachment } from '../attachments';

/** The reason when an image is to be pasted and there is none. */
export const NO_IMAGE = 'There is no image on the clipboard.';
/** The largest file that can be attached, a PDF, in bytes. Larger files would be refused, so they are not read at all. */
const MAX_BYTES = 20 * 1024 * 1024;

/** What the file chooser offers; everything where documents are accepted, because any text can be attached. */
export function offered({ images, documents }: Accepted): string | undefined {
  return images && !documents ? 'image/png,image/jpeg,image/gif,image/webp' : undefined;
}

/** Whether there are files on the clipboard that the page is not given: WebKitGTK (2.50) names their format alone. */
export function hidesFiles(clipboard: DataTransfer | null): boolean {
  if (clipboard === null || !clipboard.types.includes('text/uri-list')) return false;
  // A copied link has its address.
  const addresses = clipboard.getData('text/uri-list');
  return addresses === '' || addresses.startsWith('file:');
}

/** Returns the attachment, or the reason in words why there is none. */
export async function readFile(
  file: File,
  check: (name: string, data: string) => Promise<Attachment>,
): Promise<DraftAttachment | string> {
  const name = file.name || 'The file';
  if (file.size > MAX_BYTES) return `${name} is larger than 20 MB.`;
  const data = await base64(file);
  if (data === null) return `${name} could not be read.`;
  try {
    return drafted(name, await check(name, data));
  } catch (reason) {
    return asCommandError(reason).message;
  }
}

function base64(file: File): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => resolve(null);
    reader.readAsDataURL(file);
  });
}
