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
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { id: nextId++, name, mediaType: file.type, data: base64(bytes) };
}

/** In slices: a call takes only so many arguments. */
function base64(bytes: Uint8Array): string {
  const SLICE = 0x8000;
  let binary = '';
  for (let i = 0; i < bytes.length; i += SLICE) binary += String.fromCharCode(...bytes.subarray(i, i + SLICE));
  return btoa(binary);
}
