// Classes of input whose cost is in the browser: elements, layout and painting.

import type { Component } from 'svelte';

import type { Block, CodeLine, DiffLine, PermissionRequest, Span } from '../../lib/bindings/api';
import PermissionCard from '../../lib/session/asking/PermissionCard.svelte';
import PlanCard from '../../lib/session/asking/PlanCard.svelte';
import PlainRequest from '../../lib/session/asking/PlainRequest.svelte';
import QuestionCard from '../../lib/session/asking/QuestionCard.svelte';
import RequestStack from '../../lib/session/asking/RequestStack.svelte';
import QueueList from '../../lib/session/composer/QueueList.svelte';
import MessageBlock from '../../lib/session/conversation/MessageBlock.svelte';
import NoticeRow from '../../lib/session/conversation/NoticeRow.svelte';
import ProblemList from '../../lib/session/conversation/ProblemList.svelte';
import PromptBlock from '../../lib/session/conversation/PromptBlock.svelte';
import TextDocument from '../../lib/session/conversation/TextDocument.svelte';
import TodoList from '../../lib/session/side/TodoList.svelte';
import CodeLines from '../../lib/document/CodeLines.svelte';
import DiffView from '../../lib/document/DiffView.svelte';
import { drawLines } from '../../lib/document/lines';
import { drawSpans } from '../../lib/document/spans';
import { commandRequest, planRequest, questionRequest } from '../../fake/script';
import Palette from '../../lib/window/palette/Palette.svelte';
import { Problems } from '../../lib/session/problems.svelte';
import { item, sessionOf } from '../../stories/story';
import { paragraph } from '../make';
import { list } from './inputs';
import { DOCUMENTS } from './documents';
import { TEXTS } from './texts';

/** A component to draw, or an element to change. */
export type Drawing =
  | { component: Component<Record<string, unknown>>; props: Record<string, unknown> }
  | { element: Element; change: () => void };

type Prepare = (n: number) => Drawing;

function drawing<Props extends object>(component: Component<Props>, props: NoInfer<Props>): Drawing {
  return {
    component: component as unknown as Component<Record<string, unknown>>,
    props: props as Record<string, unknown>,
  };
}

const agree = () => Promise.resolve(true);
const ignore = () => {};

/** The texts that are hard to lay out. The others only have to be read, which `texts.ts` measures. */
const KINDS = [
  'one word',
  'one line',
  'lines',
  'blanks',
  'tabs',
  'blanks that do not break',
  'combining marks',
  'letters with marks',
  'joined pictures',
  'directions of text',
  'invisible characters',
  'lookalikes',
] as const;

function ofTexts(name: string, draw: (text: string) => Drawing): [string, Prepare][] {
  return KINDS.map((kind) => [`${name}: ${kind}`, (n) => draw(TEXTS[kind](n))]);
}

function ofDocuments(name: string, draw: (blocks: Block[]) => Drawing): [string, Prepare][] {
  return Object.entries(DOCUMENTS).map(([kind, make]) => [`${name}: ${kind}`, (n) => draw(make(n / 2))]);
}

const request = (id: string, command = 'true'): PermissionRequest => ({ ...commandRequest(id, command), itemId: null });
const diff = (lines: DiffLine[]) => ({ path: 'a', added: 1, removed: 0, hunks: [{ lines }] });
const added = (text: string): DiffLine => {
  return { kind: 'added', oldLine: null, newLine: 1, parts: [{ text, strong: false, style: 'plain' }] };
};
const line = (text: string, style: 'plain' | 'keyword' = 'plain'): CodeLine => ({ tokens: [{ text, style }] });
const codes = (n: number): Span[] => list(n, (i) => ({ type: 'code', text: `a${i}` }));
const lines = (n: number, style: 'plain' | 'keyword' = 'plain') => list(n, (i) => line(`let a${i};`, style));

function changedLines(before: CodeLine[], after: CodeLine[]): Drawing {
  const element = document.createElement('code');
  drawLines(element, [], before);
  return { element, change: () => drawLines(element, before, after) };
}

function changedSpans(before: Span[], after: Span[]): Drawing {
  const element = document.createElement('p');
  drawSpans(element, [], before);
  return { element, change: () => drawSpans(element, before, after) };
}

export const drawings: readonly (readonly [name: string, prepare: Prepare])[] = [
  ...ofTexts('answer', (text) =>
    drawing(TextDocument, { id: 'a', text: { type: 'text', blocks: [paragraph(text)], streaming: false } }),
  ),
  ...ofTexts('prompt', (text) =>
    drawing(PromptBlock, {
      id: 'a',
      at: 0,
      prompt: { type: 'prompt', text, nImages: 0, nDocuments: 0, state: 'done' },
    }),
  ),
  ...ofTexts('queued prompt', (text) => {
    const prompt = {
      id: 'a',
      text,
      nImages: 0,
      nDocuments: 0,
      held: false,
      cutOff: false,
      sendsAt: null,
      delivery: 'afterTurn' as const,
    };
    return drawing(QueueList, { queue: [prompt], oncommand: agree });
  }),
  ...ofTexts('message', (text) => {
    const message = { type: 'message', sender: { name: text, agentSessionId: null, folder: text }, text } as const;
    return drawing(MessageBlock, { id: 'a', message });
  }),
  ...ofTexts('notice', (text) => {
    const notice = { type: 'notice', level: 'error', text, detail: text, untilAt: null } as const;
    return drawing(NoticeRow, { item: item(notice, { open: true }), notice, session: sessionOf() });
  }),
  ...ofTexts('task', (text) => drawing(TodoList, { todos: [{ text, state: 'pending' }] })),
  ...ofTexts('output', (text) => drawing(CodeLines, { lines: [line(text)], wrap: true })),
  ...ofTexts('diff', (text) => drawing(DiffView, { diff: diff([added(text)]), asked: true })),
  ...ofTexts('request', (text) =>
    drawing(PermissionCard, { request: request('a', text), project: 'a', ondecide: agree }),
  ),
  ...ofTexts('plain request', (text) =>
    drawing(PlainRequest, {
      request: { ...request('a'), inputText: text },
      moved: ignore,
      ondecide: agree,
      onretry: ignore,
    }),
  ),
  ...ofTexts('question', (text) => {
    const questions = [
      { text, header: '', options: [{ label: text, description: text, preview: text }], multiSelect: false },
    ];
    return drawing(QuestionCard, { request: questionRequest('a'), questions, ondecide: agree });
  }),
  ...ofTexts('failure', (text) => {
    const problems = new Problems();
    problems.report('It failed', { code: 'badCommand', message: text, detail: text });
    return drawing(ProblemList, { problems });
  }),
  ...ofDocuments('document', (blocks) =>
    drawing(TextDocument, { id: 'a', text: { type: 'text', blocks, streaming: false } }),
  ),
  ...ofDocuments('plan', (blocks) => drawing(PlanCard, { request: planRequest('a'), blocks, ondecide: agree })),
  ['code: all lines coloured', (n) => changedLines(lines(n / 2), lines(n / 2, 'keyword'))],
  ['code: all lines removed from the end', (n) => changedLines(lines(n / 2), lines(1))],
  [
    'code: all lines removed from the beginning',
    (n) => {
      const before = lines(n / 2);
      return changedLines(before, before.slice(-1));
    },
  ],
  ['spans: all of them changed', (n) => changedSpans(codes(n / 2), codes(n / 2))],
  ['spans: all of them removed', (n) => changedSpans(codes(n / 2), [])],
  ['diff: many lines', (n) => drawing(DiffView, { diff: diff(list(n / 16, () => added('a'))) })],
  ['requests: many', (n) => drawing(RequestStack, { requests: list(n / 256, (i) => request(`r${i}`)) })],
  [
    'question: many options',
    (n) => {
      const options = list(n / 32, (i) => ({ label: `${i}`, description: 'a', preview: 'a' }));
      const questions = [{ text: 'a', header: 'b', options, multiSelect: true }];
      return drawing(QuestionCard, { request: questionRequest('a'), questions, ondecide: agree });
    },
  ],
  [
    'queue: many prompts',
    (n) => {
      const queue = list(n / 256, (i) => {
        return {
          id: `${i}`,
          text: 'a',
          nImages: 0,
          nDocuments: 0,
          held: false,
          cutOff: false,
          sendsAt: null,
          delivery: 'afterTurn' as const,
        };
      });
      return drawing(QueueList, { queue, oncommand: agree });
    },
  ],
  ['tasks: many', (n) => drawing(TodoList, { todos: list(n / 16, () => ({ text: 'a', state: 'pending' as const })) })],
  [
    'palette: many sessions',
    (n) =>
      drawing(Palette, { entries: list(n / 16, (i) => ({ id: `${i}`, label: 'a', run: ignore })), onclose: ignore }),
  ],
];
