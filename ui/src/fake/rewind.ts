// Rewinding in the fake host: a preview with every kind of change.

import type { CommandError, DiffLine, ItemId, RewindFile, RewindPreview, RewindState } from '../lib/bindings/api';
import type { FakeSession } from './session';

export const NO_REWIND: RewindState = { isPending: false, problem: null, undo: null };

const line = (kind: DiffLine['kind'], nr: number, text: string): DiffLine => ({
  kind,
  oldLine: kind === 'added' ? null : nr,
  newLine: kind === 'removed' ? null : nr,
  parts: [{ text, strong: false, style: 'plain' }],
});

const file = (path: string, facts: Partial<RewindFile> = {}): RewindFile => ({
  path,
  change: 'modified',
  isOutside: false,
  diff: {
    path,
    added: 1,
    removed: 1,
    hunks: [
      {
        lines: [
          line('context', 11, 'pub fn round(self) -> Self {'),
          line('removed', 12, '    Self(self.0.round_dp_with_strategy(2, MidpointNearestEven))'),
          line('added', 12, '    Self(self.0.round_dp(2))'),
          line('context', 13, '}'),
        ],
      },
    ],
  },
  note: null,
  hasUndo: true,
  ...facts,
});

export function preview(promptId: ItemId, prompt: string): RewindPreview {
  return {
    promptId,
    prompt,
    filesProblem: null,
    conversationProblem: null,
    files: [
      file('src/money.rs'),
      file('tests/rounding.rs', {
        change: 'removed',
        diff: { path: 'tests/rounding.rs', added: 0, removed: 1, hunks: [{ lines: [line('removed', 1, '#[test]')] }] },
      }),
      file('assets/logo.png', { diff: null, note: 'Not a text, so its changes cannot be shown.' }),
      file('/etc/hosts', { diff: null, isOutside: true, hasUndo: false, note: 'No copy for an undo can be made.' }),
    ],
    nMore: 2,
  };
}

const textOf = (session: FakeSession, id: ItemId) => {
  const body = session.items.find((item) => item.id === id)?.body;
  return body?.type === 'prompt' ? body.text : '';
};

export function previewRewind(session: FakeSession, id: ItemId): CommandError | null {
  session.emit({ type: 'rewindPreviewed', preview: preview(id, textOf(session, id)) });
  return null;
}

export function rewind(session: FakeSession, id: ItemId, files: boolean, conversation: boolean): CommandError | null {
  const prompt = textOf(session, id);
  if (conversation) {
    const at = session.items.findIndex((item) => item.id === id);
    for (const item of session.items.splice(at)) session.emit({ type: 'itemRemoved', itemId: item.id });
  }
  session.add({ type: 'notice', level: 'info', text: `Rewound to before “${prompt}”`, detail: null, untilAt: null });
  const now = Date.now();
  const undo = { at: now, prompt, nFiles: files ? 6 : 0, conversation };
  session.patch({ rewind: { ...NO_REWIND, undo }, changedAt: now });
  session.emit({ type: 'rewound', promptId: id, text: conversation ? prompt : null });
  return null;
}

export function undoRewind(session: FakeSession, overwrite: boolean): CommandError | null {
  if (!overwrite) {
    const message = 'Files have changed since the rewind. Its undo would overwrite them.';
    return { code: 'changedSince', message, detail: null, files: ['src/money.rs', 'tests/rounding.rs'] };
  }
  session.patch({ rewind: NO_REWIND });
  return null;
}
