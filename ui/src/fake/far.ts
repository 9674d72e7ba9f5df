// Other machines without the desktop app: their folders, and projects on them.

import type { CommandError, ConnectionQuestion, FolderListing, ProjectView } from '../lib/bindings/api';

export const SSH_HOSTS = ['box', 'build-server', 'db.example.org'];

/** What a machine says that takes no key. */
export const DENIED: CommandError = {
  code: 'refused',
  message: 'box cannot be reached.',
  detail:
    'ines@box: Permission denied (publickey,password).\nthe connection ended before Deskbell could start there\n' +
    'The machine refused the connection. “ssh box” in a terminal shows whether its key, your key and your password are right.',
};

const question: ConnectionQuestion = {
  id: 'q1',
  machine: 'box',
  kind: 'secret',
  text: "ines@box's password:",
  fingerprint: null,
  isAgain: false,
};

const FINGERPRINT = 'SHA256:7xYbqJvG3ZQ0m1YQ0cH5d0sQyLx8bq2N1oU9cV4tR6E';

/** What a connection to it can ask. */
export const QUESTIONS = {
  password: question,
  again: { ...question, isAgain: true },
  hostKey: {
    ...question,
    kind: 'hostKey',
    text:
      `The authenticity of host 'box (192.0.2.7)' can't be established.\nED25519 key fingerprint is ${FINGERPRINT}.\n` +
      'This key is not known by any other names.\nAre you sure you want to continue connecting (yes/no/[fingerprint])?',
    fingerprint: FINGERPRINT,
  },
  confirm: { ...question, kind: 'confirm', text: 'Accept updated hostkeys? (yes/no):' },
  touch: { ...question, kind: 'notice', text: 'Confirm user presence for key ED25519-SK SHA256:Yk1' },
  /** A server that plays another dialog. */
  hostile: {
    ...question,
    text: `(ines@box) Deskbell\u202e\u001b[2J\u200b: unlock your keyring\n\n${'Password for the bank: '.repeat(90)}`,
  },
} satisfies Record<string, ConnectionQuestion>;

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
