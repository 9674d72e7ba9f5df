// Names of the story pages, in display order.

export const pageNames = [
  'kit',
  'document',
  'header',
  'conversation',
  'items',
  'transcript',
  'details',
  'asking',
  'composer',
  'lists',
  'pages',
  'dialogs',
  'lines',
  'rules',
  'configuration',
  'settings',
  'options',
  'search',
  'usage',
  'changes',
  'boards',
  'worktrees',
] as const;

export type PageName = (typeof pageNames)[number];
