// Files that were dropped on the window: attachments and mentions of the draft.

import type { Dropped } from '../bindings/api';
import { drafted, refusal, type Accepted } from './attachments';
import type { Draft } from './drafts.svelte';
import { withMentions } from './mention';

/** Adds dropped files to a draft. Returns why some were refused. `accepted`: what the agent can be given. */
export function addDropped(draft: Draft, dropped: readonly Dropped[], accepted: Accepted): string[] {
  const refused: string[] = [];
  const paths: string[] = [];
  for (const one of dropped) {
    if (one.type === 'attachment') {
      const added = drafted(one.attachment.name ?? '', one.attachment);
      const why = refusal(added, draft.attachments, accepted);
      if (why === null) draft.attachments = [...draft.attachments, added];
      else refused.push(why);
    }
    if (one.type === 'file') paths.push(one.path);
    if (one.type === 'refused') refused.push(one.why);
  }
  if (paths.length > 0) draft.text = withMentions(draft.text, paths);
  return refused;
}
