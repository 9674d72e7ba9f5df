// Stories of the conversation's components.

import { createRawSnippet } from 'svelte';

import type {
  AgentCapabilities,
  AnsweredQuestion,
  Body,
  Model,
  PermissionRequest,
  Session,
  ToolDetail as ToolDetailOf,
  ToolState,
  TurnEnd,
} from '../lib/bindings/api';
import type { ToolCallBody } from '../lib/session/conversation/bodies';
import ChannelBanner from '../lib/session/conversation/ChannelBanner.svelte';
import ContextRing from '../lib/session/conversation/ContextRing.svelte';
import EmptyConversation from '../lib/session/conversation/EmptyConversation.svelte';
import FindBar from '../lib/session/conversation/FindBar.svelte';
import GroupRow from '../lib/session/conversation/GroupRow.svelte';
import Pickers from '../lib/session/composer/Pickers.svelte';
import Header from '../lib/session/conversation/Header.svelte';
import ItemView from '../lib/session/conversation/ItemView.svelte';
import BackgroundLine from '../lib/session/conversation/BackgroundLine.svelte';
import PaneSwitch from '../lib/session/conversation/PaneSwitch.svelte';
import SessionPane from '../lib/session/conversation/SessionPane.svelte';
import PanePair from '../lib/session/conversation/PanePair.svelte';
import NowLine from '../lib/session/conversation/NowLine.svelte';
import OutputPane from '../lib/session/conversation/OutputPane.svelte';
import ProblemList from '../lib/session/conversation/ProblemList.svelte';
import TodoList from '../lib/session/side/TodoList.svelte';
import Transcript from '../lib/session/conversation/Transcript.svelte';
import RewindLine from '../lib/session/rewind/RewindLine.svelte';
import ToolDetail from '../lib/session/conversation/ToolDetail.svelte';
import ToolImages from '../lib/session/conversation/ToolImages.svelte';
import { tick } from 'svelte';
import { emptySession } from '../fake/facts';
import { codeLine } from '../fake/markdown';
import { FakeSession } from '../fake/session';
import { FakeWindow } from '../fake/window';
import * as script from '../fake/script';
import type { Pane, PanePlace } from '../lib/session/pane.svelte';
import { SessionState } from '../lib/session/session.svelte';
import { Problems } from '../lib/session/problems.svelte';
import { ignore, item, press, sessionOf, slicesOf, states, write, type Page } from './story';

const rewound = (nFiles: number, conversation: boolean) => ({
  undo: { at: 0, prompt: 'Round half to even in totals', nFiles, conversation },
  busy: false,
  problem: null,
  onundo: ignore,
});

const nothing = createRawSnippet(() => ({ render: () => '<i></i>' }));
const LONG_FAILURE =
  'The API answered 400: invalid_request_error: messages.14.content.2.image.source.base64.data: image exceeds the maximum of 5 MB, and neither of the other two images of this request can be read';
const LONG_WORD = 'ledger_'.repeat(400);

const inSession = (body: Body, open = false) => ({ item: item(body, { open }), session: sessionOf() });

const CALLS: ToolState[] = [
  'preparing',
  'running',
  'waiting',
  'background',
  'succeeded',
  'failed',
  'denied',
  'notRun',
  'interrupted',
];
/** The engine's notes, by state. */
const NOTES: Partial<Record<ToolState, string>> = {
  waiting: 'waiting for you',
  failed: 'exit code 101',
  denied: 'denied',
  notRun: 'interrupted before it ran',
};
const ENDED: ToolState[] = ['succeeded', 'failed', 'interrupted'];
const call = (state: ToolState) =>
  script.ran('cargo test -p ledger', [], {
    state,
    note: NOTES[state],
    inBackground: state === 'background',
    durationMs: ENDED.includes(state) ? 4_100 : null,
  });

/** A command that the user changed before it ran. */
const changed = () =>
  script.ran('touch changed.txt && echo changed', ['changed'], { originalInput: 'touch original.txt' });

const written = (state: ToolState, verb: string, note?: string) =>
  script.tool('edit', verb, 'src/money.rs', { type: 'edit', ...script.DIFF }, { state, note, durationMs: null });

function tasks(last: ToolState) {
  const bodies = [script.todos(1), script.todos(2), { ...script.todos(3), state: last } as Body];
  return { items: bodies.map((body) => item(body)), ontoggle: ignore, session: sessionOf() };
}

function detailed(detail: ToolDetailOf, words: script.ToolWords = {}) {
  return { itemId: 'i1', call: script.tool('other', 'Used', 'a tool', detail, words) as ToolCallBody };
}

function agent() {
  const body = script.tool('agent', 'Asked an agent to', 'find every place that rounds', {
    type: 'json',
    input: '{}',
    output: script.whole([]),
  });
  const state = item(body, { open: true });
  return { item: state, session: sessionOf() };
}

function lookups(last: ToolState) {
  const bodies = [script.search('round'), script.read('src/money.rs'), script.read('src/report.rs')];
  const failed = { ...bodies[2], state: last } as Body;
  return { items: [...bodies.slice(0, 2), failed].map((body) => item(body)), ontoggle: ignore, session: sessionOf() };
}

function notice(
  level: 'info' | 'warning' | 'error',
  text: string,
  rest: Partial<Extract<Body, { type: 'notice' }>> = {},
) {
  return inSession({ type: 'notice', level, text, detail: null, untilAt: null, ...rest }, true);
}

function ended(outcome: TurnEnd['outcome'], words: string, costUsd: TurnEnd['costUsd'] = 0.18) {
  return inSession({ ...script.turnEnd(), type: 'turnEnd', outcome, words, costUsd } as Body);
}

function prompted(state: Extract<Body, { type: 'prompt' }>['state'], text: string, nImages = 0, nDocuments = 0) {
  return inSession({ type: 'prompt', text, state, nImages, nDocuments });
}

const answer = (label: string, description: string, isChosen: boolean) => ({ label, description, isChosen });
const ANSWERED: AnsweredQuestion[] = [
  {
    text: 'What should happen to totals that are already stored?',
    header: 'Stored totals',
    options: [
      answer('Leave them', 'Only new sums are rounded to even', true),
      answer('Recompute them', 'A migration runs over all months', false),
    ],
    ownWords: null,
    isAnswered: true,
  },
  {
    text: 'Which reports use them?',
    header: 'Reports',
    options: [answer('Monthly', '', true), answer('Yearly', '', false)],
    ownWords: 'and the one for the bank, `report_'.padEnd(400, 'bank_'),
    isAnswered: true,
  },
];

const numbered = Array.from({ length: 40 }, (_, i) => codeLine(`line ${i + 101} of the output`));
const NOTHING = script.whole([]);

const picks = { onmode: ignore, onwithoutasking: ignore, onswitch: ignore };

const head = {
  hasSide: true,
  ontogglesessions: ignore,
  ontoggleside: ignore,
  onrename: ignore,
  oncontext: ignore,
  acts: [{ id: 'rename', label: 'Rename', key: 'F2' }],
  onact: ignore,
};
const facts = { ...emptySession('s1', 'Round half to even in totals'), alive: true };
const RECOMMENDED: Model = {
  name: 'default',
  label: 'Default (recommended)',
  description: 'Use the default model (currently Opus 5.5)',
  resolved: 'claude-opus-5-5',
  effortLevels: ['low', 'medium', 'high'],
  canStopThinking: false,
  canDecide: true,
};
const usage = { contextTokens: 68_000, contextWindow: 200_000, costUsd: 0.42, outputTokens: 9_800, byModel: [] };

function problems() {
  const all = new Problems();
  all.report('The prompt was not sent', {
    code: 'internal',
    message: 'The agent is gone.',
    detail: 'Broken pipe (os error 32)',
  });
  all.report('The clipboard was not written', { code: 'internal', message: 'It is in use.', detail: null });
  return { problems: all };
}

const now = (status: Parameters<typeof sessionOf>[0]) => ({
  open: sessionOf({ turnStartedAt: Date.now() - 34_000, ...status }),
  onstop: ignore,
  onbackground: ignore,
});
const todos = (nDone: number) => {
  const { detail } = script.todos(nDone) as Extract<Body, { type: 'toolCall' }>;
  return detail.type === 'todos' ? detail.todos : [];
};

const lacking = (without: Partial<AgentCapabilities>) => ({
  ...facts,
  usage,
  capabilities: { ...facts.capabilities, ...without },
});

const choice = (id: string, name: string, description = '') => ({ id, name, description });
/** An agent that reports what can be chosen in its session, and how full its context is. */
const offering = (fast: 'true' | 'false'): Session => ({
  ...facts,
  agent: 'acp',
  agentName: 'Claude Code (ACP adapter)',
  usage: { ...usage, contextTokens: 31_000, costUsd: 0 },
  capabilities: { ...facts.capabilities, modes: [], withoutAsking: false, models: true, effort: true, thinking: false },
  model: 'large',
  models: ['large', 'small'].map((name) => ({
    ...RECOMMENDED,
    name,
    label: name === 'large' ? 'Large' : 'Small',
    description: '',
    resolved: null,
    effortLevels: name === 'large' ? ['default', 'high'] : [],
  })),
  effort: 'high',
  mode: 'acceptEdits',
  agentOptions: [
    {
      id: 'mode',
      name: 'Mode',
      description: '',
      kind: 'mode',
      value: 'acceptEdits',
      choices: [
        choice('default', 'Manual', 'Always ask before making changes'),
        choice('acceptEdits', 'Accept edits', 'Automatically accept all file edits'),
        choice('plan', 'Plan'),
      ],
    },
    {
      id: 'tier',
      name: 'Service tier',
      description: '',
      kind: 'choice',
      value: 'standard',
      choices: [choice('standard', 'Standard'), choice('priority', 'Priority')],
    },
    {
      id: 'fast',
      name: 'Fast mode',
      description: 'Answers sooner, for more',
      kind: 'switch',
      value: fast,
      choices: [],
    },
  ],
});

const paneIn = (place: PanePlace) => ({ place }) as Pane;

const sessionPane = (facts: Partial<Session>, bodies: Body[] = []) => ({
  open: sessionOf(facts, bodies),
  hasSide: false,
  ontoggleside: ignore,
  onclose: ignore,
});

export const header: Page = () => [
  ...states('Header', Header, {
    'a long title': {
      ...head,
      session: { ...facts, usage, title: 'Why are the totals of the months off by a cent against those of the bank?' },
    },
    'the demo agent': { ...head, session: { ...facts, usage, agent: 'demo' } },
    'a profile': { ...head, session: { ...facts, usage, profile: 'Work' } },
    'a profile of another agent': {
      ...head,
      session: { ...facts, profile: 'Gemini at work', agent: 'acp', agentName: 'Gemini CLI' },
    },
    'another agent': { ...head, session: { ...facts, agent: 'acp', agentName: 'Gemini CLI' } },
    renaming: [
      { ...head, session: facts },
      async (root) => {
        root.querySelector('h1')?.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
        await tick();
      },
    ],
    'a session that keeps running': { ...head, session: { ...facts, usage, link: { type: 'connected' } } },
    'a lost connection that is tried again': { ...head, session: { ...facts, usage, link: { type: 'connecting' } } },
    'a lost connection that waits': {
      ...head,
      session: { ...facts, usage, link: { type: 'waiting', attempt: 3, at: Date.now() + 28_000 } },
    },
    'a session in another version': {
      ...head,
      session: { ...facts, usage, link: { type: 'incompatible', version: '9.0.0' } },
    },
    'a restricted agent': { ...head, session: { ...facts, usage, restricted: true } },
  }),
  ...states('Pickers', Pickers, {
    'another agent with models, modes and settings of its own': { ...picks, session: offering('false') },
    'another agent with a setting turned on': { ...picks, session: offering('true') },
    'a recommended model': {
      ...picks,
      session: { ...facts, usage, model: 'default', models: [RECOMMENDED] },
    },
    'an agent without modes': { ...picks, session: lacking({ modes: [], withoutAsking: false }) },
    'an agent without models': { ...picks, session: lacking({ models: false }) },
    'an agent without effort levels': { ...picks, session: lacking({ effort: false, thinking: false }) },
    'skips permissions': { ...picks, session: { ...facts, mode: 'bypassPermissions' } },
  }),
];

export const conversation: Page = () => [
  ...states('ChannelBanner', ChannelBanner, {
    unasked: {
      fault: { kind: 'unasked', words: 'The agent ran a command without asking.', subject: 'touch r\u0435port' },
      onstop: ignore,
    },
    'cannot ask': { fault: { kind: 'cannotAsk', words: 'The agent does not ask.', subject: null }, onstop: ignore },
  }),
  ...states('FindBar', FindBar, {
    found: [{ session: sessionOf(), onshow: ignore, onclose: ignore }, (root) => write(root, 'round')],
    'nothing found': [{ session: sessionOf(), onshow: ignore, onclose: ignore }, (root) => write(root, 'wombat')],
  }),
  ...states('ProblemList', ProblemList, { two: [problems(), (root) => press(root, 'Details')] }),
  ...states('EmptyConversation', EmptyConversation, {
    'with the agent that was found': {
      project: 'ledger',
      agent: 'claude',
      program: '/home/ines/.local/bin/claude',
      isPage: true,
    },
    'no session': { project: 'ledger', agent: 'claude', isPage: true },
    'the demo agent': { project: 'ledger', agent: 'demo', onoptions: ignore },
  }),
  ...states('SessionPane', SessionPane, {
    'with an answer': sessionPane({}, [
      script.prompt('Round half to even'),
      script.text('It rounds half to even now.'),
    ]),
    working: sessionPane({ status: { type: 'working', activity: 'Running cargo test' } }, [
      script.prompt('Round half to even'),
    ]),
    'that waits': sessionPane({ requests: [script.commandRequest('q1', 'git push')] }, [script.prompt('Push it')]),
    'of a long title': sessionPane({ title: 'Round half to even in totals and in every report '.repeat(4) }),
  }),
  ...states('PanePair', PanePair, {
    one: { above: null, panes: [paneIn('first')], content: nothing },
    two: { above: null, panes: [paneIn('first'), paneIn('second')], content: nothing },
  }),
  ...states('PaneSwitch', PaneSwitch, {
    'a session that is not shown': { other: sessionOf(), onswap: ignore, onclose: ignore },
    'a long title': {
      other: sessionOf({ title: 'Round half to even in totals and in every report '.repeat(4) }),
      onswap: ignore,
      onclose: ignore,
    },
  }),
  ...states('NowLine', NowLine, {
    starting: now({ status: { type: 'starting' }, turnStartedAt: null }),
    working: now({ status: { type: 'working', activity: 'Running cargo test' } }),
    'a long command': now({
      status: { type: 'working', activity: `Running cargo test ${'--features everything '.repeat(8)}` },
    }),
    interrupting: now({ status: { type: 'interrupting' } }),
    restarting: now({ status: { type: 'restarting', attempt: 2, at: 0 } }),
    stopping: now({ status: { type: 'stopping' } }),
    'working when the connection was lost': now({
      status: { type: 'working', activity: 'Running cargo test' },
      link: { type: 'connecting' },
    }),
  }),
  ...states('BackgroundLine', BackgroundLine, { one: { n: 1 }, several: { n: 3 } }),
  ...states('ContextRing', ContextRing, {
    'a third': { usage, onopen: ignore },
    full: { usage: { ...usage, contextTokens: 230_000 }, onopen: ignore },
    'no window known': { usage: { ...usage, contextWindow: null }, onopen: ignore },
  }),
];

/** A user who scrolled up, to a fixed position. */
function away(requests: PermissionRequest[]) {
  const session = sessionOf({ requests }, [script.prompt(script.ASKED), script.text(script.EXPLAINED)]);
  session.place = { following: false, index: 0, offset: 0 };
  return { session, footer: nothing, empty: nothing };
}

const HELD = { type: 'prompt', state: 'held', nImages: 1, nDocuments: 0 } as const;
const WORDS = [1, 2, 3].map((slice) =>
  [1, 2, 3].map((line) => `Line ${line} of slice ${slice}. ${'It goes on for a while. '.repeat(8)}\n`).join(''),
);

function inSlices(bodies: Body[]) {
  return { session: slicesOf(bodies), footer: nothing, empty: nothing };
}

/** The end of a conversation whose beginning is still being read from disk. */
function partial() {
  const { session, ...rest } = away([]);
  session.isPartial = true;
  return { session, ...rest };
}

/** A call whose subagent made an answer, a search and a call of its own, all open. */
function subagent() {
  const session = new FakeSession(emptySession('s1', 'Round half to even in totals'));
  const agent = (what: string) =>
    script.tool('agent', 'Asked an agent to', what, { type: 'json', input: '{}', output: script.whole([]) });
  session.add(script.text(script.FOUND));
  const call = session.add(agent('find every place that rounds'));
  session.add(script.text(script.FOUND), call);
  session.add(script.search('round'), call);
  const inner = session.add(agent('read the tests'), call);
  session.add(script.read('src/money.rs'), inner);
  session.add(script.text(script.FOUND));
  const state = new SessionState(session.facts);
  state.load(new FakeWindow(session, { first: null, count: 240, requestId: 1 }, [call, inner]).snapshot());
  for (const id of [call, inner]) Object.assign(state.item(id) ?? {}, { open: true });
  return { session: state, footer: nothing, empty: nothing };
}

export const transcript: Page = () =>
  states('Transcript', Transcript, {
    'read from above': away([]),
    'still being read from disk': partial(),
    'read from above, with a request': away([script.commandRequest('q1', 'git status')]),
    'a long prompt': inSlices(WORDS.map((words): Body => ({ ...HELD, text: words }))),
    'an open subagent': subagent(),
    'a long command': inSlices(WORDS.map((words, nr) => script.ran(words, nr === 2 ? ['test result: ok'] : []))),
    'a long message': inSlices(
      WORDS.map((words): Body => ({
        type: 'message',
        sender: { name: 'docs', agentSessionId: null, folder: '/home/ada/docs' },
        text: words,
      })),
    ),
    'a long note': inSlices(
      WORDS.map((words): Body => ({
        type: 'notice',
        level: 'warning',
        text: 'It failed',
        detail: words,
        untilAt: null,
      })),
    ),
    'a long thought': inSlices(WORDS.map((words, nr) => script.thinking(nr === 0 ? 6_000 : null, words))),
  });

const message = (
  name: string,
  text = 'Please look at the totals of May.',
  agentSessionId: string | null = null,
): Body => ({
  type: 'message',
  sender: { name, agentSessionId, folder: '/home/ada/docs' },
  text,
});

export const items: Page = () => [
  ...states('PromptBlock', ItemView, {
    'with images': prompted('done', script.ASKED, 2),
    'with an image and documents': prompted('done', script.ASKED, 1, 3),
    failed: prompted('failed', 'And the quarters?'),
    held: prompted('held', 'And the quarters?'),
    withdrawn: prompted('withdrawn', 'And the quarters?'),
    'one long word': prompted('done', LONG_WORD),
  }),
  ...states('MessageBlock', ItemView, {
    named: inSession(message('docs')),
    'of a known session': inSession(message('docs', undefined, 'of-docs')),
    'without a name': inSession(message('')),
    'one long word': inSession(message(LONG_WORD, LONG_WORD)),
  }),
  ...states('ThinkingFold', ItemView, {
    'just begun': inSession(script.thinking(null, '')),
    'at work': inSession(script.thinking(null)),
    open: inSession(script.thinking(6_000), true),
  }),
  ...states('ToolCallRow', ItemView, {
    ...Object.fromEntries(CALLS.map((state) => [state, inSession(call(state))])),
    'run in the background': inSession(
      script.ran('npm run dev', [], { verb: 'Ran in the background', note: 'stopped', inBackground: true }),
    ),
    'changed by the user': inSession(changed()),
    'changed by the user, open': inSession(changed(), true),
    'a file that is to be written': inSession(written('waiting', 'Wants to write', 'waiting for you')),
    'a file that was not written': inSession(written('notRun', 'Did not write', 'interrupted before it ran')),
    'an agent at work': agent(),
    'a long subject': inSession(script.ran(`cargo test ${'--features everything '.repeat(12)}`, [])),
  }),
  ...states('GroupRow', GroupRow, {
    'lookups, closed': { kind: 'lookups', ...lookups('running'), open: false },
    'lookups, open': { kind: 'lookups', ...lookups('failed'), open: true },
    'tasks, closed': { kind: 'tasks', ...tasks('succeeded'), open: false },
    'tasks, at work': { kind: 'tasks', ...tasks('running'), open: false },
    'tasks, open': { kind: 'tasks', ...tasks('failed'), open: true },
  }),
  ...states('RewindLine', RewindLine, {
    'files and conversation': rewound(6, true),
    'one file': rewound(1, false),
    'the conversation alone': rewound(0, true),
    busy: { ...rewound(6, true), busy: true },
    failed: {
      ...rewound(2, false),
      problem: 'The rewind cannot be undone, and nothing was changed: a copy is damaged.',
    },
  }),
  ...states('NoticeRow', ItemView, {
    info: notice('info', 'The conversation was shortened.'),
    'a compaction with its summary': notice('info', 'The conversation was compacted: from 182,400 to 9,120 tokens', {
      detail: 'The user wants totals rounded half to even. src/money.rs has the change; one test is left to write.',
    }),
    'a hook with its output': notice('warning', 'The hook check (PreToolUse) reported a blocking error (exit code 2)', {
      detail: 'src/money.rs is generated: change the template instead',
    }),
    'hooks that ran': notice('info', 'Hooks ran: PreToolUse:Bash (3 times), Stop', {
      detail: 'PreToolUse:Bash:\nchecked\n\nStop:\nall good',
    }),
    'retries that are over': notice('warning', 'The API answered 529 (overloaded); tried again 3 times'),
    warning: notice('warning', 'A line could not be read.', { detail: '{"type":"assist' }),
    error: notice('error', 'The rate limit is reached', { untilAt: Date.now() + 95 * 60_000 }),
  }),
  ...states('TurnEndLine', ItemView, {
    done: ended({ type: 'done' }, 'Done'),
    'without a cost': ended({ type: 'done' }, 'Done', null),
    interrupted: ended({ type: 'interrupted' }, 'Interrupted'),
    'nothing was done': ended({ type: 'unavailable' }, 'Nothing was done'),
    'not logged in': ended({ type: 'notLoggedIn' }, 'The agent is not logged in'),
    'a refused key': ended({ type: 'apiError', status: 401 }, 'Failed to authenticate. API Error: 401'),
    crashed: ended({ type: 'crashed' }, 'The agent stopped unexpectedly'),
    'a long failure': ended({ type: 'apiError', status: 400 }, LONG_FAILURE),
    'one long word': ended({ type: 'failed' }, LONG_WORD),
  }),
];

export const details: Page = () => [
  ...states('OutputPane', OutputPane, {
    'a part of many lines': { itemId: 'i1', output: { total: 1_240, first: 100, lines: numbered } },
  }),
  ...states('ToolImages', ToolImages, {
    'one of two': { itemId: 'i1', nImages: 2 },
  }),
  ...states('ToolDetail', ToolDetail, {
    'a command without output': detailed({ type: 'command', command: 'touch report.md', output: NOTHING }),
    'a command': detailed({ type: 'command', command: 'cargo test', output: script.whole(numbered.slice(0, 4)) }),
    'an edit': detailed({ type: 'edit', ...script.DIFF, hunks: [...script.DIFF.hunks, ...script.DIFF.hunks] }),
    'an empty file': detailed({ type: 'text', language: null, output: NOTHING }),
    'what no tool is known for': detailed({
      type: 'json',
      input: '{ "month": "2026-04" }',
      output: script.whole(numbered.slice(0, 2)),
    }),
    'a change that was not made': detailed({ type: 'edit', ...script.DIFF }, { state: 'denied' }),
    'a change that was interrupted': detailed({ type: 'edit', ...script.DIFF }, { state: 'interrupted' }),
    'a command that did not run': detailed(
      { type: 'command', command: 'rm -rf x', output: NOTHING },
      { state: 'denied' },
    ),
    'a command in the background': detailed(
      { type: 'command', command: 'npm run dev', output: NOTHING },
      { state: 'background', inBackground: true },
    ),
    'a notebook cell': detailed({
      type: 'notebook',
      cell: 'Replaced code cell 4f2a',
      diff: { ...script.DIFF, path: 'totals.ipynb' },
    }),
    'a notebook cell that was deleted': detailed({
      type: 'notebook',
      cell: 'Deleted cell 4f2a',
      diff: { path: 'totals.ipynb', added: 0, removed: 0, hunks: [] },
    }),
    'a notebook cell that was not changed': detailed(
      { type: 'notebook', cell: 'Replace code cell 4f2a', diff: { ...script.DIFF, path: 'totals.ipynb' } },
      { state: 'denied' },
    ),
    'a plan that was not approved': detailed(
      { type: 'plan', blocks: script.planBlocks() },
      { state: 'denied', note: 'not approved: Begin with the totals.' },
    ),
    'answered questions': detailed({ type: 'questions', questions: ANSWERED }),
    'questions that were not answered': detailed(
      {
        type: 'questions',
        questions: ANSWERED.map((question) => ({
          ...question,
          options: question.options.map((option) => ({ ...option, isChosen: false })),
          ownWords: null,
          isAnswered: false,
        })),
      },
      { state: 'denied' },
    ),
    tasks: detailed({ type: 'todos', todos: todos(2) }),
  }),
  ...states('TodoList', TodoList, { none: { todos: [] }, 'all done': { todos: todos(4) } }),
];
