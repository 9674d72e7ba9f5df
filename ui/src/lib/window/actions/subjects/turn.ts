// Actions of a turn: its requests, its end, its queue and the prompt box.

import { isTurnRunning } from '../../../text/status';
import { limitToWaitFor } from '../../../session/usage/limits';
import type { Action } from '../action';
import { noSideQuestions } from '../../../session/sideQuestions';
import { isOpen, offRequest, offSession, offTurn, offWaiting, open } from '../conditions';
import { always, send } from './builders';

export const TURN: readonly Action[] = [
  {
    id: 'request',
    group: 'Requests',
    label: 'Go to the request that waits',
    keys: ['Alt+R'],
    macKeys: ['Ctrl+Shift+R'],
    off: offWaiting,
    does: { run: (desk) => desk.showRequest() },
  },
  {
    id: 'allow',
    group: 'Requests',
    label: 'Allow the request, or answer the question',
    keys: ['Alt+A'],
    macKeys: ['Ctrl+Shift+A'],
    isKeyOnly: true,
    off: offRequest,
    does: { run: (desk) => desk.answer('allow') },
  },
  {
    id: 'always-allow',
    group: 'Requests',
    label: 'Always allow what the request asks for',
    keys: ['Alt+W'],
    macKeys: ['Ctrl+Shift+Y'],
    isKeyOnly: true,
    off: offRequest,
    does: { run: (desk) => desk.answer('always-allow') },
  },
  {
    id: 'deny',
    group: 'Requests',
    label: 'Deny the request, or skip the question',
    keys: ['Alt+D'],
    macKeys: ['Ctrl+Shift+D'],
    isKeyOnly: true,
    off: offRequest,
    does: { run: (desk) => desk.answer('deny') },
  },

  {
    id: 'interrupt',
    group: 'Turn',
    label: 'Stop this turn',
    keys: ['Escape'],
    isLocal: true,
    off: offTurn,
    does: { run: send({ type: 'interrupt' }, 'The turn was not stopped') },
  },
  {
    id: 'to-background',
    group: 'Turn',
    label: 'Move what this turn waits for to the background',
    keys: ['Alt+B'],
    macKeys: ['Ctrl+Shift+G'],
    off: (desk) =>
      offTurn(desk) ??
      (open(desk)?.session.capabilities.backgroundTasks === true ? null : 'This agent has no background tasks.'),
    does: { run: send({ type: 'moveToBackground' }, 'Nothing was moved to the background') },
  },
  {
    id: 'side-question',
    group: 'Turn',
    label: 'Ask a side question',
    keys: ['Alt+S'],
    macKeys: ['Ctrl+Shift+S'],
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    off: (desk) => offSession(desk) ?? noSideQuestions(open(desk)?.session ?? null, desk.pane.isWatching),
    does: { run: (desk) => desk.askAside() },
  },
  {
    id: 'stop-all',
    group: 'Turn',
    label: 'Stop this turn and everything in the background',
    off: (desk) => ((open(desk)?.session.background.length ?? 0) > 0 ? null : 'Nothing runs in the background.'),
    does: {
      run: (desk) => {
        const session = open(desk)?.session;
        if (session !== undefined && isTurnRunning(session.status)) {
          void desk.pane.command({ type: 'interrupt' }, 'The turn was not stopped');
        }
        for (const task of session?.background ?? []) {
          void desk.pane.command({ type: 'stopTask', taskId: task.id }, 'The task was not stopped');
        }
      },
    },
  },
  {
    id: 'stop-next',
    group: 'Turn',
    label: 'Stop and send next',
    off: (desk) =>
      offTurn(desk) ??
      (open(desk)?.session.queue.some((prompt) => !prompt.held) === true ? null : 'No prompt is queued.'),
    does: { run: send({ type: 'interruptAndContinue' }, 'The turn was not stopped') },
  },
  {
    id: 'continue',
    group: 'Turn',
    label: 'Continue the queue',
    off: (desk) =>
      open(desk)?.session.queue.some((prompt) => prompt.held && !prompt.cutOff) === true ? null : 'No prompt is held.',
    does: { run: send({ type: 'continueQueue' }, 'The queue was not continued') },
  },
  {
    id: 'continue-at-reset',
    group: 'Turn',
    label: 'Continue when the limit resets',
    off: (desk) => {
      const session = open(desk)?.session;
      return session !== undefined && limitToWaitFor(session, Date.now()) !== null
        ? null
        : 'No limit stopped this session.';
    },
    does: { run: (desk) => void desk.pane.continueAtReset() },
  },
  {
    id: 'queue',
    group: 'Turn',
    label: 'Go to the queued prompts',
    off: (desk) => offSession(desk) ?? (open(desk)?.session.queue.length === 0 ? 'No prompt is queued.' : null),
    does: { run: (desk) => desk.goTo('queue') },
  },
  always('Turn', 'prompt', 'Focus prompt', (desk) => desk.focusPrompt(), 'Ctrl+L'),
  {
    id: 'paste',
    group: 'Turn',
    label: 'Paste image',
    // On other platforms the page receives pasted images itself.
    isAbsent: () => !/linux/i.test(navigator.userAgent),
    off: (desk) => desk.covered,
    does: { run: (desk) => desk.pasteImage() },
  },
];
