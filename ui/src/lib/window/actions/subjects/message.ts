// Actions of a message, a tool call or a changed file of the open session.

import type { Action, Choice, Desk, Target } from '../action';
import {
  canUnfold,
  hasInput,
  hasOutput,
  hasText,
  isCall,
  offMessage,
  offOther,
  offOwnWindow,
  offRewind,
  offSession,
  offUnsent,
  open,
} from '../conditions';
import { sayCopied } from './builders';

const WORDS = { message: 'the message', input: 'the input', output: 'the output', raw: 'the call as JSON' } as const;

const copying = (
  id: string,
  label: string,
  inMenu: string,
  what: 'message' | 'input' | 'output' | 'raw',
  applies: (on: Target) => boolean,
): Action => ({
  id,
  group: 'Message',
  label,
  inMenu,
  menu: 'message',
  isAbsent: (_, on) => !applies(on),
  off: offMessage,
  does: {
    run: (desk, { item }) => {
      if (item !== null) void sayCopied(desk, WORDS[what], desk.pane.copyOf({ type: what, itemId: item.id }));
    },
  },
});

const fileChoices = (desk: Desk, run: (path: string) => void): Choice[] =>
  (open(desk)?.files ?? []).map(({ path }) => ({ id: path, label: path, run: () => run(path) }));

/** An action on a changed file: in its menu, and in the palette one for each file. */
const onFile = (id: string, label: string, inMenu: string, run: (desk: Desk, path: string) => void): Action => ({
  id,
  group: 'File',
  label,
  inMenu,
  menu: 'file',
  off: (desk, { file }) =>
    file === null && (open(desk)?.files.length ?? 0) === 0 ? 'This session changed no files.' : null,
  does: {
    choices: (desk, { file }) =>
      file === null
        ? fileChoices(desk, (path) => run(desk, path))
        : [{ id: file, label: inMenu, run: () => run(desk, file) }],
  },
});

export const MESSAGE: readonly Action[] = [
  copying('copy-message', 'Copy the last message', 'Copy message', 'message', hasText),
  copying('copy-input', 'Copy the input of the last tool call', 'Copy input', 'input', hasInput),
  copying('copy-output', 'Copy the output of the last tool call', 'Copy output', 'output', hasOutput),
  copying('copy-call', 'Copy the last tool call as JSON', 'Copy input and result as JSON', 'raw', isCall),
  {
    id: 'fork-before',
    group: 'Message',
    label: 'Fork before the last prompt',
    inMenu: 'Fork before this prompt',
    menu: 'message',
    isAbsent: (_, { item }) => item?.body.type !== 'prompt',
    off: (desk, on) => offMessage(desk, on) ?? offOther(desk, on),
    does: {
      run: (desk, { item }) => {
        if (item !== null) void desk.pane.fork(item.id);
      },
    },
  },
  {
    id: 'ask-another',
    group: 'Message',
    label: 'Ask another agent the last prompt…',
    inMenu: 'Ask another agent…',
    menu: 'message',
    isAbsent: (_, { item }) => item?.body.type !== 'prompt',
    off: (desk, on) => offOwnWindow(desk) ?? offSession(desk) ?? offMessage(desk, on),
    does: {
      run: (desk, { item }) => {
        if (item !== null) desk.askAnother(item.id);
      },
    },
  },
  {
    id: 'rewind',
    group: 'Message',
    label: 'Rewind to the last prompt…',
    inMenu: 'Rewind to here…',
    menu: 'message',
    isAbsent: (_, { item }) => item?.body.type !== 'prompt',
    off: (desk, on) => offMessage(desk, on) ?? offUnsent(desk, on) ?? offRewind(desk),
    does: {
      run: (desk, { item }) => {
        if (item !== null) desk.rewind(item.id);
      },
    },
  },
  {
    id: 'undo-rewind',
    group: 'Session',
    label: 'Undo the last rewind',
    off: (desk) => offRewind(desk) ?? (open(desk)?.session.rewind.undo === null ? 'There is no rewind to undo.' : null),
    does: { run: (desk) => desk.undoRewind() },
  },
  {
    id: 'fold',
    group: 'Message',
    label: 'Show or hide the last tool call or thinking',
    labelNow: (_, { item }, inMenu) => {
      if (!inMenu) return 'Show or hide the last tool call or thinking';
      return item?.open === true ? 'Hide details' : 'Show details';
    },
    menu: 'message',
    isAbsent: (_, on) => !canUnfold(on),
    off: offMessage,
    does: {
      run: (_, { item }) => {
        if (item !== null) item.open = !item.open;
      },
    },
  },

  onFile('edit-file', 'Open in editor', 'Open in editor', (desk, path) => void desk.project.app.openInEditor(path)),
  onFile('reveal', 'Show in its folder', 'Show in its folder', (desk, path) => void desk.project.app.revealPath(path)),
  onFile(
    'copy-path',
    'Copy path',
    'Copy path',
    (desk, path) => void sayCopied(desk, 'the path', desk.project.app.writeClipboard(path)),
  ),
];
