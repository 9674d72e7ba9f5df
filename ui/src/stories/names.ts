// The names of the pages of stories, in the order in which they are looked at.

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
  'rules',
  'settings',
] as const;

export type PageName = (typeof pageNames)[number];
