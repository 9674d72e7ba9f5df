// Images from the clipboard or the desktop, made ready to go with a prompt.

import type { Attachment } from '../state/drafts.svelte';

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const MAX_BYTES = 5 * 1024 * 1024;

let nextId = 1;

/** The attachment, or in words why there is none. */
export async function readImage(file: File): Promise<Attachment | string> {
  const name = file.name || 'image';
  if (!IMAGE_TYPES.includes(file.type)) return `${name} is not a PNG, JPEG, GIF or WebP image.`;
  if (file.size > MAX_BYTES) return `${name} is larger than 5 MB.`;
  const data = await base64(file);
  if (data === null) return `${name} could not be read.`;
  return { id: nextId++, name, mediaType: file.type, data };
}

function base64(file: File): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => resolve(null);
    reader.readAsDataURL(file);
  });
}
