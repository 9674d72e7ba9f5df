// Commands of the fake host: a turn that streams, edits, asks and ends.

import type { Attachment, Body, Command, CommandError, Delivery, QueuedPrompt, Resolution } from '../lib/bindings/api';
import { configuration } from './configuration';
import { contextReport, NO_CONTEXT } from './context';
import { document } from './markdown';
import { previewRewind, rewind, undoRewind } from './rewind';
import { asking, RULES } from './rules';
import { reachedLimit } from '../lib/session/usage/limits';
import * as script from './script';
import type { FakeSession } from './session';
import { askSide, cancelSide } from './sideQuestions';

const FRAME_MS = 30;
/** Characters that arrive with each step of a stream. */
const STEP = 7;

const HELD = { held: true, sendsAt: null, delivery: 'afterTurn' } as const;

/** Runs a command; returns the error if it is refused. */
export function runCommand(session: FakeSession, command: Command): CommandError | null {
  switch (command.type) {
    case 'prompt':
      accept(session, command.text, command.attachments, command.delivery);
      return null;
    case 'interrupt':
      session.patch({ queue: session.facts.queue.map((prompt) => ({ ...prompt, ...HELD })) });
      if (session.abort()) session.status({ type: 'interrupting' });
      return null;
    case 'continueQueue':
      session.patch({
        queue: session.facts.queue.map((prompt) => ({
          ...prompt,
          held: prompt.cutOff && prompt.held,
          sendsAt: null,
        })),
      });
      next(session);
      return null;
    case 'interruptAndContinue':
      if (session.abort()) session.status({ type: 'interrupting' });
      return null;
    case 'decide':
      return session.resolve(command.requestId, resolutionOf(command))
        ? null
        : { code: 'noSuchRequest', message: 'This request was already answered.', detail: null };
    case 'withdraw':
      session.patch({ queue: session.facts.queue.filter((prompt) => prompt.id !== command.promptId) });
      return null;
    case 'editQueued':
      session.patch({
        queue: session.facts.queue.map((prompt) =>
          prompt.id === command.promptId ? { ...prompt, text: command.text } : prompt,
        ),
      });
      return null;
    case 'resend':
      session.patch({
        queue: session.facts.queue.map((prompt) =>
          prompt.id === command.promptId ? { ...prompt, held: false, sendsAt: null } : prompt,
        ),
      });
      next(session);
      return null;
    case 'deliver': {
      const prompt = session.facts.queue.find((queued) => queued.id === command.promptId);
      if (prompt === undefined) return NO_SUCH_PROMPT;
      session.patch({ queue: session.facts.queue.filter((queued) => queued !== prompt) });
      enqueue(session, { ...prompt, held: false, delivery: command.delivery });
      return null;
    }
    case 'move': {
      const prompt = session.facts.queue.find((queued) => queued.id === command.promptId);
      if (prompt === undefined) return NO_SUCH_PROMPT;
      const queue = session.facts.queue.filter((queued) => queued !== prompt);
      const place = queue.findIndex((queued) => queued.id === command.before);
      queue.splice(place < 0 ? queue.length : place, 0, prompt);
      session.patch({ queue });
      return null;
    }
    case 'setMode':
      session.patch({ mode: command.mode });
      return null;
    case 'setOptions':
      session.patch({ options: command.options });
      return null;
    case 'setModel':
      if (!session.facts.models.some((model) => model.name === command.model)) {
        return { code: 'refused', message: `There is no model named ${command.model}.`, detail: null };
      }
      session.patch({ model: command.model });
      return null;
    case 'setEffort':
      session.patch({ effort: command.effort });
      return null;
    case 'listRules':
      session.patch({ rules: session.facts.rules ?? RULES });
      return null;
    case 'suspendRules':
      session.patch({ rules: command.suspended ? asking(session.facts.rules ?? RULES, command.rules) : RULES });
      return null;
    case 'readContext':
      session.patch({
        context: { ...NO_CONTEXT, report: contextReport(session.facts.usage.contextTokens, Date.now()) },
      });
      return null;
    case 'askSide':
      return askSide(session, command);
    case 'cancelSide':
      return cancelSide(session, command.id);
    case 'readConfiguration':
      session.patch({ configuration: configuration(Date.now()) });
      return null;
    case 'reconnectServer': {
      const text = 'The agent could not do it: Connection closed';
      const failures = [{ server: command.server, text }];
      session.patch({ configuration: { ...session.facts.configuration, failures } });
      return null;
    }
    case 'setServerEnabled': {
      const status = command.enabled ? ('connected' as const) : ('disabled' as const);
      const { servers } = session.facts.configuration;
      const changed = servers?.map((one) => (one.name === command.server ? { ...one, status, error: null } : one));
      session.patch({ configuration: { ...session.facts.configuration, servers: changed ?? null } });
      return null;
    }
    case 'reloadPlugins':
      return null;
    case 'previewRewind':
      return previewRewind(session, command.promptId);
    case 'rewind':
      return rewind(session, command.promptId, command.files, command.conversation);
    case 'undoRewind':
      return undoRewind(session, command.overwrite);
    case 'setAgentOption':
      session.patch({
        agentOptions: session.facts.agentOptions.map((option) =>
          option.id === command.id ? { ...option, value: command.value } : option,
        ),
      });
      return null;
    case 'setThinking':
      session.patch({ thinking: command.on });
      return null;
    case 'generateTitle':
      session.patch({ title: 'A generated title' });
      return null;
    case 'rename':
      session.patch({ title: command.title });
      return null;
    case 'start':
      session.patch({ alive: true });
      return null;
    case 'reload':
      // The fake agent restarts in the same state.
      return null;
    case 'moveToBackground':
      return null;
    case 'stopTask': {
      const background = session.facts.background.filter((task) => task.id !== command.taskId);
      session.patch({ background, nBackground: background.length });
      return null;
    }
    case 'stop':
      session.abort();
      session.patch({ status: { type: 'stopped' }, alive: false });
      return null;
  }
}

function resolutionOf({ decision }: Extract<Command, { type: 'decide' }>): Resolution {
  switch (decision.type) {
    case 'allowOnce':
    case 'approvePlan':
      return { type: 'allowed', always: null };
    case 'allowAlways':
      return { type: 'allowed', always: String(decision.suggestion) };
    case 'deny':
      return { type: 'denied', message: decision.message };
    case 'answer':
    case 'fill':
      return { type: 'answered' };
  }
}

let nextPrompt = 1;

const NO_SUCH_PROMPT: CommandError = {
  code: 'noSuchPrompt',
  message: 'The prompt is no longer in the queue.',
  detail: null,
};

function accept(session: FakeSession, text: string, attachments: readonly Attachment[], delivery: Delivery): void {
  const nImages = attachments.filter(({ mediaType }) => mediaType.startsWith('image/')).length;
  const nDocuments = attachments.length - nImages;
  enqueue(session, {
    id: `p${nextPrompt++}`,
    text,
    nImages,
    nDocuments,
    held: false,
    cutOff: false,
    sendsAt: null,
    delivery,
  });
}

/** The item of a prompt that was sent. */
function sent({ text, nImages, nDocuments }: QueuedPrompt): Body {
  return { type: 'prompt', text, nImages, nDocuments, state: 'sent' };
}

/** Adds a prompt to the turn, or to the front or the end of the queue, as its delivery says. */
function enqueue(session: FakeSession, prompt: QueuedPrompt): void {
  if (prompt.delivery === 'atReset') {
    const sendsAt = reachedLimit(session.facts.limits, Date.now())?.resetsAt ?? null;
    session.patch({ queue: [...session.facts.queue, { ...prompt, held: true, sendsAt, delivery: 'afterTurn' }] });
    return;
  }
  const { queue, turnStartedAt, takesIntoTurn } = session.facts;
  if (prompt.delivery === 'intoTurn' && turnStartedAt !== null && takesIntoTurn) {
    session.add(sent(prompt), null, prompt.id);
    return;
  }
  session.patch({ queue: prompt.delivery === 'now' ? [prompt, ...queue] : [...queue, prompt] });
  if (prompt.delivery === 'now' && session.abort()) session.status({ type: 'interrupting' });
  next(session);
}

/** Sends the next prompt in the queue if no turn is running. */
function next(session: FakeSession): void {
  const prompt = session.facts.queue.find((queued) => !queued.held);
  if (prompt === undefined || session.facts.turnStartedAt !== null) return;
  session.patch({
    queue: session.facts.queue.filter((queued) => queued.id !== prompt.id),
    status: { type: 'working', activity: 'Thinking' },
    alive: true,
    isEmpty: false,
    turnStartedAt: Date.now(),
    takesIntoTurn: true,
    title: session.facts.title === 'New session' ? prompt.text.slice(0, 60) : session.facts.title,
  });
  session.add(sent(prompt), null, prompt.id);
  session.emit({ type: 'turnStarted', promptIds: [prompt.id] });
  const signal = session.begin();
  void turn(session, prompt.text, signal)
    .then(
      () => ({ end: script.turnEnd(), status: 'completed' }) as const,
      () => {
        const end = { ...script.turnEnd(), outcome: { type: 'interrupted' } as const, words: 'Interrupted' };
        return { end, status: 'interrupted' } as const;
      },
    )
    .then(({ end, status }) => {
      session.end();
      session.change(prompt.id, { type: 'prompt', state: 'done' });
      session.add(end);
      session.patch({
        status: { type: status },
        turnStartedAt: null,
        takesIntoTurn: false,
        usage: { ...session.facts.usage, contextTokens: session.facts.usage.contextTokens + 14_000, costUsd: 0.18 },
      });
      next(session);
    });
}

async function turn(session: FakeSession, asked: string, signal: AbortSignal): Promise<void> {
  const thought = session.add({
    ...script.thinking(null, ''),
    type: 'thinking',
    text: '',
    streaming: true,
    durationMs: null,
  });
  await wait(700, signal);
  session.change(thought, script.thinking(700));
  if (/question/i.test(asked)) {
    await session.ask(script.questionRequest(`q${nextPrompt++}`), 'Has a question', signal);
    signal.throwIfAborted();
  }
  if (/plan/i.test(asked)) {
    await session.ask(script.planRequest(`q${nextPrompt++}`), 'Proposes a plan', signal);
    signal.throwIfAborted();
  }
  for (const body of [script.search('round'), script.read('src/money.rs'), script.read('src/report.rs')]) {
    session.add(body);
    await wait(150, signal);
  }
  await stream(session, script.FOUND, signal);
  session.add(script.todos(1));
  await wait(300, signal);
  session.add(script.edit());
  const command = 'cargo test -p ledger totals';
  const call = session.add(script.ran(command, [], { state: 'waiting', durationMs: null }));
  const answer = await session.ask(
    { ...script.commandRequest(`q${nextPrompt++}`, command), askedAt: Date.now(), itemId: call },
    'Wants to run a command',
    signal,
  );
  signal.throwIfAborted();
  if (answer.type === 'denied') {
    session.change(call, script.ran(command, [], { state: 'denied', note: 'denied', durationMs: null }));
    await stream(session, 'Then I leave the tests to you.', signal);
    return;
  }
  session.change(call, script.ran(command, [], { state: 'running', durationMs: null }));
  session.status({ type: 'working', activity: `Running ${command}` });
  await wait(1500, signal);
  session.change(call, script.ran(command, script.TEST_OUTPUT));
  session.add(script.todos(3));
  session.status({ type: 'working', activity: 'Writing' });
  await stream(session, script.EXPLAINED, signal);
}

async function stream(session: FakeSession, source: string, signal: AbortSignal): Promise<void> {
  const id = session.add(script.text('', true));
  let before = document('');
  try {
    for (let end = STEP; end < source.length + STEP; end += STEP) {
      const blocks = document(source.slice(0, end));
      let keep = 0;
      while (keep < before.length && JSON.stringify(before[keep]) === JSON.stringify(blocks[keep])) keep += 1;
      session.blocks(id, keep, blocks.slice(keep));
      before = blocks;
      await wait(FRAME_MS, signal);
    }
  } finally {
    session.change(id, { type: 'text', streaming: false });
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
