// Stories of the composer and the queue.

import AttachmentDialog from '../lib/session/composer/AttachmentDialog.svelte';
import Composer from '../lib/session/composer/Composer.svelte';
import PlainComposer from '../lib/session/composer/PlainComposer.svelte';
import SentAttachments from '../lib/session/conversation/SentAttachments.svelte';
import QueueList from '../lib/session/composer/QueueList.svelte';
import type { QueuedPrompt } from '../lib/bindings/api';
import { emptySession, PROJECT_FILES } from '../fake/facts';
import { drafted } from '../lib/session/attachments';
import { Draft } from '../lib/session/drafts.svelte';
import { agree, ignore, press, states, write, type Page } from './story';

/** A chequered square. */
const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAJUlEQVR42mP48ukdHN1cFwpHuMQZBqEGYhQhiw9GDaPxMCg0AAA96VgfdX5v0gAAAABJRU5ErkJggg==';

/** A storage that keeps nothing, for the drafts of stories. */
const NOWHERE: Storage = {
  length: 0,
  clear: ignore,
  getItem: () => null,
  key: () => null,
  removeItem: ignore,
  setItem: ignore,
};

const LONG =
  'then run the whole suite, and if all of it passes update the changelog with a line for each of the nine cases of the report';

/** A log, as it was pasted. */
const PASTED = Array.from(
  { length: 60 },
  (_, i) => `test rounding::case_${i} ... ${i % 9 === 4 ? 'FAILED' : 'ok'}\n`,
).join('');

function box(text: string, images: string[] = [], pasted = '') {
  const draft = new Draft('story', NOWHERE);
  draft.text = text;
  draft.attachments = images.map((name) =>
    drafted(
      name,
      name.endsWith('.png') ? { mediaType: 'image/png', data: IMAGE } : { mediaType: 'application/pdf', data: '' },
    ),
  );
  if (pasted !== '') {
    draft.attachments = [...draft.attachments, drafted('Pasted text', { mediaType: 'text/plain', data: pasted })];
  }
  return {
    draft,
    commands: emptySession('', '').commands,
    running: false,
    prompts: () => [],
    onsend: agree,
    onstop: ignore,
    onfind: () => Promise.resolve({ files: PROJECT_FILES.map((path) => ({ path, matched: [0] })), isCut: true }),
    oncheck: () => Promise.reject(new Error('no image')),
    onrefuse: ignore,
  };
}

function queued(id: string, rest: Partial<QueuedPrompt> = {}): QueuedPrompt {
  return {
    id,
    text: `the prompt ${id}`,
    nImages: 0,
    nDocuments: 0,
    held: false,
    cutOff: false,
    sendsAt: null,
    delivery: 'afterTurn',
    ...rest,
  };
}

const OLD_SERVER =
  'The server of this session is an older Deskbell that does not know this request. A newer one takes its place after its sessions have ended.';

const QUEUE = [
  queued('now', { delivery: 'now' }),
  queued('into', { delivery: 'intoTurn', nImages: 2, nDocuments: 1 }),
  queued('next', { text: LONG }),
  queued('held', { held: true }),
  queued('cut', { held: true, cutOff: true, text: LONG, nImages: 1, nDocuments: 1 }),
];

const list = { queue: QUEUE, running: true, takesIntoTurn: true, oncommand: agree };

export const composer: Page = () => [
  ...states('Composer', Composer, {
    empty: box(''),
    'a long draft': box(`${LONG}\n`.repeat(12)),
    'with images': box('Like these', ['bank-statement.png', `${'a-very-long-name-'.repeat(5)}.png`]),
    'with documents': box('Compare these', ['report.pdf', 'bank-statement.png']),
    'with a pasted text': box('Why does this fail?', ['bank-statement.png'], PASTED),
    'reading a pasted text': [box('', [], PASTED), (root) => press(root, 'Pasted text')],
    'reading one that is too long for the box': [box('', [], PASTED.repeat(30)), (root) => press(root, 'Pasted text')],
    'looking at an image': [box('', ['bank-statement.png']), (root) => press(root, 'bank-statement.png')],
    'an agent that takes text only': { ...box('Look'), accepted: { images: false, documents: false } },
    'a turn runs': { ...box('and one more thing'), running: true, takesIntoTurn: true },
    'the turn stops': { ...box('never mind'), running: true, stopping: true },
    'a file is held over it': { ...box('look'), dragging: true },
    'choosing a command': [box(''), (root) => write(root, '/'), 'above'],
    'choosing a file': [box(''), (root) => write(root, '@s'), 'above'],
    'another machine lists no files': [
      { ...box(''), onfind: () => Promise.resolve(OLD_SERVER) },
      (root) => write(root, 'look at @s'),
      'above',
    ],
  }),
  ...states('AttachmentDialog', AttachmentDialog, {
    'a text that was sent': {
      attachment: { name: 'Pasted text', mediaType: 'text/plain', data: PASTED },
      onclose: ignore,
    },
    'an image that was sent': {
      attachment: { name: 'bank-statement.png', mediaType: 'image/png', data: IMAGE },
      onclose: ignore,
    },
  }),
  ...states('SentAttachments', SentAttachments, {
    'one of each kind': {
      attachments: [
        { name: 'bank-statement.png', mediaType: 'image/png', data: IMAGE },
        { name: 'report.pdf', mediaType: 'application/pdf', data: 'A'.repeat(120_000) },
        { name: 'Pasted text', mediaType: 'text/plain', data: PASTED },
        { mediaType: 'image/png', data: IMAGE },
      ],
    },
  }),
  ...states('PlainComposer', PlainComposer, { 'a turn runs': { ...box('and one more thing'), running: true } }),
  ...states('QueueList', QueueList, {
    'all that wait': list,
    editing: [{ ...list, queue: QUEUE.slice(2, 3) }, (root) => press(root, 'Edit queued prompt')],
    'held by Stop': {
      ...list,
      queue: ['b', 'c'].map((id) => queued(id, { held: true })),
      running: false,
    },
    'when a limit resets': {
      ...list,
      queue: [queued('d', { held: true, sendsAt: new Date(Date.now()).setHours(23, 45, 0, 0) })],
      running: false,
    },
    'only what was cut off': { ...list, queue: QUEUE.slice(4), running: false },
    'no turn runs': { ...list, queue: QUEUE.slice(3), running: false },
  }),
];
