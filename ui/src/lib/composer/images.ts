// Images from the clipboard or a file, made ready to go with a prompt. What they really are is found out behind the host.

import type { Image } from '../bindings/api';
import { asCommandError } from '../host/host';
import { attachment, type Attachment } from '../state/attachments';

/** What the file chooser offers; it decides nothing. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** More than this is not even read: no image of that size is taken. */
const MAX_BYTES = 5 * 1024 * 1024;

/** The attachment, or in words why there is none. */
export async function readImage(
  file: File,
  check: (name: string, data: string) => Promise<Image>,
): Promise<Attachment | string> {
  const name = file.name || 'The image';
  if (file.size > MAX_BYTES) return `${name} is larger than 5 MB.`;
  const data = await base64(file);
  if (data === null) return `${name} could not be read.`;
  try {
    return attachment(name, await check(name, data));
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
