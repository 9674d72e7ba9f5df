// Other machines without the desktop app: their folders, and projects on them.

import type { CommandError, FolderListing, ProjectView } from '../../bindings/api';

export const SSH_HOSTS = ['box', 'build-server', 'db.example.org'];

/** What a machine says that takes no key. */
const DENIED: CommandError = {
  code: 'refused',
  message: 'box cannot be reached.',
  detail:
    'ines@box: Permission denied (publickey,password).\nthe connection ended before Deskbell could start there\n' +
    'Deskbell needs a key that works without a question. Run “ssh box” in a terminal once, and answer what it asks.',
};

const FOLDERS: Record<string, string[]> = {
  '/': ['home', 'srv'],
  '/home': ['ines'],
  '/home/ines': ['code', 'ledger', 'x\u202exslx'],
  '/home/ines/code': ['lighthouse', 'tide-tables'],
};

/** The folders on a machine. `down` denies the connection, `slow` never answers. */
export function foldersOn(machine: string, folder: string): Promise<FolderListing> {
  if (machine === 'down') return Promise.reject(DENIED);
  if (machine === 'slow') return new Promise(() => {});
  const path = folder === '' ? '/home/ines' : folder;
  const parent = path === '/' ? null : path.slice(0, path.lastIndexOf('/')) || '/';
  return Promise.resolve({ path, parent, folders: FOLDERS[path] ?? [], isCut: path === '/' });
}

const facts = {
  path: 'box:/home/ines/ledger',
  name: 'ledger (box)',
  checkout: { branch: null, worktreeOf: null },
  agent: { type: 'found', kind: 'claude', program: 'claude', source: 'on box' },
} as const;

/** The project on another machine, by the state of its connection. */
export const FAR: Record<'reached' | 'connecting' | 'failed', Partial<ProjectView>> = {
  reached: { ...facts, machine: { name: 'box', isConnecting: false }, problem: null },
  connecting: { ...facts, machine: { name: 'box', isConnecting: true }, problem: null },
  failed: { ...facts, machine: { name: 'box', isConnecting: false }, problem: DENIED },
};
