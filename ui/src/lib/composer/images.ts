// Images from the clipboard or a file, prepared as attachments. The host determines their real type.

import type { Image } from '../bindings/api';
import { asCommandError } from '../host/host';
import { attachment, type Attachment } from '../state/attachments';

/** The types offered by the file chooser; they are not used for checks. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** The reason when an image is to be pasted and there is none. */
export const NO_IMAGE = 'There is no image on the clipboard.';
/** The maximum size in bytes. Larger images would be refused, so they are not read at all. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Returns the attachment, or the reason in words why there is none. */
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
