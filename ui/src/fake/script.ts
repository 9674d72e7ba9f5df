// Texts of the made-up conversation.

import type {
  Attachment,
  Block,
  Body,
  CodeLine,
  Diff,
  DiffPart,
  Form,
  Output,
  PermissionRequest,
  Question,
  Subagent,
  TaskOutput,
  Todo,
  ToolDetail,
  ToolIcon,
  ToolState,
} from '../lib/bindings/api';
import { codeLine, document, outputLine } from './markdown';

export const ASKED =
  "Totals are off by a cent against the bank's. I think we round half up somewhere. Find it, use banker's rounding, and add the cases from docs/report-0412.md.";

export const FOUND = `The only rounding that reaches a total is \`Money::round\`; it rounds half away from zero. The three reported cents are all midpoints, so this explains every one of them.`;

export const EXPLAINED = `## What was wrong

\`Money::round\` rounded midpoints *away from zero*. Over a month of postings this adds up, since midpoints are common in prices: see [the decimal crate's notes](https://docs.rs/rust_decimal/latest/rust_decimal/enum.RoundingStrategy.html).

\`\`\`rust
pub fn round(self, places: u32) -> Self {
    // Banker's rounding: the totals of a month then match the bank's.
    Self(self.0.round_dp_with_strategy(places, MidpointNearestEven))
}
\`\`\`

1. **Every caller** goes through this function, so nothing else changes.
2. The nine cases of the report are in \`tests/totals.rs\`, one row each.
3. Stored totals are untouched; only new sums are rounded this way.

| Month | Before | After |
|---|---|---|
| January | 1,204.55 | 1,204.54 |
| February | 980.13 | 980.12 |
| March | 1,377.01 | 1,377.00 |
`;

export const STREAMING =
  'The existing tests pass unchanged, which means that none of them covered a midpoint. I am adding the nine cases from the report as a table, so that each failure names its line in the report and the next person can ext';

export const DIFF: Diff = {
  path: 'src/money.rs',
  added: 2,
  removed: 2,
  hunks: [
    {
      lines: [
        line('context', 41, 41, '    pub fn round(self, places: u32) -> Self {'),
        line('removed', 42, null, '        // half away from zero'),
        {
          kind: 'removed',
          oldLine: 43,
          newLine: null,
          parts: [...parts('        Self(self.0.'), ...parts('round_dp(places)', true), ...parts(')')],
        },
        line('added', null, 42, "        // Banker's rounding: the totals of a month then match the bank's."),
        {
          kind: 'added',
          oldLine: null,
          newLine: 43,
          parts: [
            ...parts('        Self(self.0.'),
            ...parts('round_dp_with_strategy(places, MidpointNearestEven)', true),
            ...parts(')'),
          ],
        },
        line('context', 44, 44, '    }'),
      ],
    },
  ],
};

function parts(text: string, strong = false): DiffPart[] {
  return codeLine(text).tokens.map((token) => ({ ...token, strong }));
}

function line(kind: 'context' | 'added' | 'removed', oldLine: number | null, newLine: number | null, text: string) {
  return { kind, oldLine, newLine, parts: parts(text) };
}

export function prompt(text: string): Body {
  return { type: 'prompt', text, nImages: 0, nDocuments: 0, state: 'done' };
}

export function text(source: string, streaming = false): Body {
  return { type: 'text', blocks: document(source), streaming };
}

export function thinking(
  ms: number | null,
  source = 'The reported differences are all one cent, and all at midpoints.',
): Body {
  return { type: 'thinking', text: source, streaming: ms === null, durationMs: ms };
}

export interface ToolWords {
  state?: ToolState;
  note?: string | undefined;
  durationMs?: number | null;
  inBackground?: boolean;
  originalInput?: string | null;
  /** The engine's verb for the state, if it is not the one for a finished call. */
  verb?: string;
}

export function tool(
  icon: ToolIcon,
  verb: string,
  subject: string,
  detail: ToolDetail,
  { state = 'succeeded', note, durationMs = 400, inBackground = false, originalInput = null }: ToolWords = {},
): Body {
  return {
    type: 'toolCall',
    tool: verb,
    icon,
    verb,
    subject,
    state,
    note: note ?? null,
    inBackground,
    originalInput,
    durationMs,
    detail,
  };
}

/** An image that a tool returned. */
export const PIXEL: Attachment = {
  mediaType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};

/** The output of tasks in the background, by their ids. */
export const TASK_OUTPUTS: readonly [string, TaskOutput][] = [
  [
    'b1',
    {
      lines: [
        outputLine('$ vite dev'),
        outputLine('ready in 412 ms', 'green'),
        outputLine('page reload src/lib/money.ts'),
        outputLine('hmr update /src/App.svelte'),
      ],
      isCut: true,
    },
  ],
  ['b9', { lines: [], isCut: false }],
];

/** The standard error of MCP servers, by their names. */
export const SERVER_LOGS: readonly [string, TaskOutput][] = [
  [
    'database',
    {
      lines: [outputLine('reading /etc/database.toml'), outputLine('fatal: DATABASE_URL is not set', 'red')],
      isCut: false,
    },
  ],
];

/** The output of an item that includes all lines. */
export function whole(lines: CodeLine[]): Output {
  return { total: lines.length, first: 0, lines };
}

export function read(path: string): Body {
  const lines = ['use rust_decimal::Decimal;', '', 'pub struct Money(Decimal);'].map(codeLine);
  return tool('read', 'Read', path, { type: 'text', language: 'rust', output: whole(lines) }, { durationMs: 100 });
}

export function search(pattern: string): Body {
  const lines = ['src/money.rs:41', 'src/report.rs:118'].map((text) => outputLine(text));
  return tool(
    'search',
    'Searched for',
    pattern,
    { type: 'text', language: null, output: whole(lines) },
    { durationMs: 200 },
  );
}

export function edit(): Body {
  return tool('edit', 'Edited', 'src/money.rs', { type: 'edit', ...DIFF }, { durationMs: 100 });
}

/** The engine's words for a command, by state. */
const RAN: Record<ToolState, string> = {
  preparing: 'Preparing to run',
  running: 'Running',
  waiting: 'Wants to run',
  background: 'Running in the background',
  succeeded: 'Ran',
  failed: 'Ran',
  denied: 'Did not run',
  notRun: 'Did not run',
  interrupted: 'Interrupted while running',
};

export function ran(command: string, output: string[], words: ToolWords = {}): Body {
  const lines = output.map((text) =>
    outputLine(text, /ok|passed/.test(text) ? 'green' : /FAILED|error/.test(text) ? 'red' : 'plain'),
  );
  return tool(
    'command',
    words.verb ?? RAN[words.state ?? 'succeeded'],
    command,
    { type: 'command', command, output: whole(lines) },
    {
      durationMs: 4_100,
      ...words,
    },
  );
}

export const TEST_OUTPUT = [
  '   Compiling ledger v0.3.1',
  '    Finished `test` profile in 3.62s',
  '     Running tests/totals.rs',
  '',
  'running 4 tests',
  'test empty_month ... ok',
  'test one_posting ... ok',
  'test mixed_signs ... ok',
  'test carries_over ... ok',
  '',
  'test result: ok. 4 passed; 0 failed',
];

export function todos(nDone: number): Body {
  const words = [
    'Find every place that rounds',
    'Change Money::round',
    'Add the cases from the report',
    'Run the whole suite',
  ];
  const list = words.map((text, i): Todo => ({
    text,
    state: i < nDone ? 'completed' : i === nDone ? 'inProgress' : 'pending',
  }));
  const note = `${nDone} of ${words.length} done`;
  return tool('todo', 'Updated', 'the to-do list', { type: 'todos', todos: list }, { note });
}

export function turnEnd(): Body {
  return {
    type: 'turnEnd',
    outcome: { type: 'done' },
    words: 'Done',
    promptIds: [],
    durationMs: 48_000,
    outputTokens: 2_140,
    costUsd: 0.18,
    tokens: { input: 31_400, output: 2_140, cacheRead: 182_000, cacheWrite: 9_300 },
    timing: { spawnMs: 420, firstLineMs: 180, firstTextMs: 1_900 },
  };
}

export function commandRequest(id: string, command: string): PermissionRequest {
  const input = { command, description: 'Run the tests and clear a stale fingerprint', timeout: 120_000 };
  return {
    id,
    tool: 'Bash',
    serverTool: null,
    question: 'Run this command?',
    subject: command,
    inputText: JSON.stringify(input, null, 2),
    shown: `shown-${id}`,
    hasMore: false,
    host: null,
    notices: [],
    plain: command,
    kind: { type: 'command' },
    diff: null,
    suggestions: [
      {
        id: 'rule',
        label: 'Allow this command',
        rule: `Bash(${command})`,
        keptIn: 'Saved for you in this project (.claude/settings.local.json)',
        raw: { type: 'addRules' },
      },
      {
        id: 'mode',
        label: 'Accept edits from now on',
        rule: 'acceptEdits',
        keptIn: 'For this session only',
        raw: { type: 'setMode', mode: 'acceptEdits' },
      },
    ],
    always: null,
    itemId: null,
    reason: null,
    unreported: null,
    subagent: null,
    askedAt: Date.now() - 12_000,
  };
}

/** A command for which the agent suggests one rule. */
export function oneRuleRequest(id: string, command: string): PermissionRequest {
  const request = commandRequest(id, command);
  return { ...request, suggestions: request.suggestions.slice(0, 1), always: 'rule' };
}

/** The subagent that asks, by its description. */
export function subagent(description: string): Subagent {
  const words = description === '' ? 'Asked by a subagent' : `Asked by the subagent “${description}”`;
  return { agentId: 'a002c2ecb06f09987', description, itemId: null, words };
}

export function editRequest(id: string): PermissionRequest {
  const input = {
    file_path: 'src/money.rs',
    old_string: 'round_dp(places)',
    new_string: 'round_dp_with_strategy(places, …)',
  };
  return {
    ...commandRequest(id, 'src/money.rs'),
    tool: 'Edit',
    question: 'Edit money.rs?',
    inputText: JSON.stringify(input, null, 2),
    kind: { type: 'edit' },
    diff: DIFF,
  };
}

/** A URL whose host is not the one it seems to name. */
export function fetchRequest(id: string): PermissionRequest {
  const url = 'https://docs.rs@10.0.0.7:8443/rust_decimal/latest?q=round';
  const input = { url, prompt: 'Which strategies are there?' };
  return {
    ...commandRequest(id, url),
    tool: 'WebFetch',
    question: 'Fetch this page?',
    inputText: JSON.stringify(input, null, 2),
    hasMore: true,
    host: '10.0.0.7',
    notices: [{ kind: 'address', words: 'The part before “@” in the address is a user name, not the host' }],
    plain: null,
    kind: { type: 'fetch' },
    reason: 'No permission rule covers this address.',
  };
}

/** A tool without special support: its whole input is shown, and no rule is offered. */
export function otherRequest(id: string): PermissionRequest {
  const input = { month: '2026-04', lines: [{ account: 'cash', amount: 1204.54 }], final: true };
  const inputText = JSON.stringify(input, null, 2);
  return {
    ...commandRequest(id, inputText),
    tool: 'mcp__ledger__post',
    serverTool: 'ledger: Post a month (post)',
    question: 'Let ledger run Post a month (post)?',
    inputText,
    kind: { type: 'other' },
    suggestions: [],
  };
}

export function questionRequest(id: string): PermissionRequest {
  return {
    ...commandRequest(id, ''),
    tool: 'AskUserQuestion',
    question: 'The agent has a question',
    inputText: '{}',
    suggestions: [],
    kind: {
      type: 'questions',
      questions: [
        {
          text: 'What should happen to totals that are already stored?',
          header: 'Stored totals',
          multiSelect: false,
          options: [
            { label: 'Leave them', description: 'Only new sums are rounded to even', preview: null },
            { label: 'Recompute them', description: 'A migration runs over all months', preview: null },
          ],
        },
        {
          text: 'Where should the cases be tested?',
          header: 'Tests',
          multiSelect: true,
          options: [
            { label: 'Unit tests', description: '', preview: null },
            { label: 'Property tests', description: 'With random postings', preview: null },
            { label: 'The import of the report', description: '', preview: null },
          ],
        },
      ],
    },
  };
}

/** A question whose options have previews. */
export function previewRequest(id: string): PermissionRequest {
  const option = (label: string, description: string, preview: string | null) => ({ label, description, preview });
  const question: Question = {
    text: 'Which rounding should the import use?',
    header: 'Rounding',
    multiSelect: false,
    options: [
      option('Half to even', 'As the bank does', PREVIEW),
      option('Half up', 'As in school', 'amount    today    then\n 0.125     0.12    0.13'),
      option('Truncate', 'As it is today', null),
    ],
  };
  const files: Question = {
    text: 'Which files may change?',
    header: 'Files',
    multiSelect: true,
    options: [option('src/import.rs', '', null), option('src/money.rs', '', null)],
  };
  return { ...questionRequest(id), kind: { type: 'questions', questions: [question, files] } };
}

const PREVIEW = `┌─────────┬────────┬────────┐
│ amount  │ today  │ then   │
├─────────┼────────┼────────┤
│  0.125  │  0.12  │  0.12  │
│  0.135  │  0.13  │  0.14  │
│ -1.005  │ -1.00  │ -1.00  │
└─────────┴────────┴────────┘
January, 412 rows: 9 totals change,
and all of them then match the bank. <b>No markup</b>`;

/** A dialog of the agent itself: another model could continue. */
export function dialogRequest(id: string): PermissionRequest {
  const form: Form = {
    server: null,
    message: 'claude-fable-5 declined to answer: its safeguards flagged the conversation (bio).',
    url: null,
    fields: [
      {
        name: 'choice',
        label: 'How to continue',
        description: null,
        isRequired: true,
        kind: {
          type: 'one',
          choices: [
            {
              value: 'retry_fallback',
              label: 'Continue with claude-opus-5',
              description: 'The session uses claude-opus-5 from now on.',
            },
            { value: 'edit_prompt', label: 'Stop here', description: 'You can change the prompt and send it again.' },
          ],
          default: null,
        },
      },
    ],
  };
  return { ...formRequest(id), question: 'The agent asks you to choose', kind: { type: 'form', form } };
}

export function formRequest(id: string): PermissionRequest {
  const field = { description: null, isRequired: false };
  const choice = (value: string, label: string) => ({ value, label, description: null });
  const form: Form = {
    server: 'ledger',
    message: 'Which month should be closed?\nIts postings cannot be changed afterwards.',
    url: null,
    fields: [
      {
        ...field,
        name: 'month',
        label: 'Month',
        description: 'The last month that is complete',
        isRequired: true,
        kind: { type: 'text', default: '2026-04', format: 'date', minLength: 7, maxLength: 7 },
      },
      {
        ...field,
        name: 'rounding',
        label: 'Rounding',
        isRequired: true,
        kind: {
          type: 'one',
          choices: [{ ...choice('even', 'To even'), description: 'As banks do' }, choice('up', 'Up')],
          default: null,
        },
      },
      {
        ...field,
        name: 'copies',
        label: 'Copies of the report',
        kind: { type: 'number', isWhole: true, default: null, minimum: 1, maximum: 9 },
      },
      {
        ...field,
        name: 'reports',
        label: 'Reports',
        kind: {
          type: 'many',
          choices: [choice('totals', 'Totals'), choice('taxes', 'Taxes'), choice('cash', 'Cash')],
          default: ['totals'],
          minimum: null,
          maximum: 2,
        },
      },
      { ...field, name: 'mail', label: 'Send them by mail', kind: { type: 'switch', default: null } },
    ],
  };
  return {
    ...commandRequest(id, ''),
    tool: 'Elicitation',
    question: 'ledger asks you to fill in a form',
    inputText: '{}',
    suggestions: [],
    kind: { type: 'form', form },
  };
}

export function formOf(request: PermissionRequest): Form {
  if (request.kind.type !== 'form') throw new Error('not a form');
  return request.kind.form;
}

export function pageRequest(id: string): PermissionRequest {
  const url = 'https://ledger.example/consent?for=deskbell';
  const form: Form = { server: 'ledger', message: 'Let ledger read your accounts.', url, fields: [] };
  return {
    ...formRequest(id),
    question: 'ledger asks you to open a page',
    subject: url,
    host: 'ledger.example',
    kind: { type: 'form', form },
  };
}

export function planBlocks(): Block[] {
  return document(`## Round half to even

1. Change \`Money::round\` to \`MidpointNearestEven\`.
2. Add the nine cases of the report to \`tests/totals.rs\`.
3. Run the whole suite.

\`\`\`sh
cargo test -p ledger totals
cargo test --workspace --all-features
\`\`\`

| Month | Before | After |
|---|---|---|
| January | 1,204.55 | 1,204.54 |
| February | 980.13 | 980.12 |

Stored totals stay as they are.`);
}

export function planRequest(id: string): PermissionRequest {
  return {
    ...commandRequest(id, ''),
    tool: 'ExitPlanMode',
    question: 'Approve this plan?',
    inputText: '{}',
    kind: {
      type: 'plan',
      blocks: planBlocks(),
    },
  };
}
