// A pane that keeps the end of its content in view, until the user scrolls up to read.

import type { Attachment } from 'svelte/attachments';

/** How near the end counts as at the end, in pixels: less than a line. */
const NEAR = 8;

/** Create it during component setup. `content` reads what the pane shows. */
export function keepEnd(content: () => unknown): Attachment<HTMLElement> {
  return (pane) => {
    let stays = false;
    const onscroll = () => {
      stays = pane.scrollHeight - pane.scrollTop - pane.clientHeight > NEAR;
    };
    pane.addEventListener('scroll', onscroll);
    $effect(() => {
      void content();
      if (!stays) pane.scrollTop = pane.scrollHeight;
    });
    return () => pane.removeEventListener('scroll', onscroll);
  };
}
