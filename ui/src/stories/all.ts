// The story pages by name: `stories.html?page=kit`.

import { asking } from './asking';
import { changes } from './changes';
import { composer } from './composer';
import { configured } from './configuration';
import { conversation, details, header, items, transcript } from './conversation';
import { agentLines, dialogs, rulesInForce, settingsOf } from './dialogs';
import { document } from './document';
import { kit } from './kit';
import { options } from './options';
import { lists, pages as wholePages } from './pages';
import type { PageName } from './names';
import { boards, search } from './search';
import type { Page } from './story';
import { usage } from './usage';
import { worktrees } from './worktrees';

export const pages: Record<PageName, Page> = {
  kit,
  document,
  header,
  conversation,
  items,
  transcript,
  details,
  asking,
  composer,
  lists,
  pages: wholePages,
  dialogs,
  lines: agentLines,
  rules: rulesInForce,
  configuration: configured,
  settings: settingsOf,
  options,
  search,
  usage,
  changes,
  boards,
  worktrees,
};
