// Stories of permission requests and the panels that their buttons open.

import type { PermissionRequest, Suggestion } from '../lib/bindings/api';
import AlwaysAllow from '../lib/session/asking/AlwaysAllow.svelte';
import DenyReason from '../lib/session/asking/DenyReason.svelte';
import FormCard from '../lib/session/asking/FormCard.svelte';
import InputEditor from '../lib/session/asking/InputEditor.svelte';
import Notices from '../lib/session/asking/Notices.svelte';
import PermissionCard from '../lib/session/asking/PermissionCard.svelte';
import PlainRequest from '../lib/session/asking/PlainRequest.svelte';
import PlanCard from '../lib/session/asking/PlanCard.svelte';
import QuestionCard from '../lib/session/asking/QuestionCard.svelte';
import * as script from '../fake/script';
import { agree, ignore, press, states, write, type Page } from './story';

const moved = () => null;
const ODD = 'touch r\u0435port\u202e.md';

const SUGGESTIONS: Suggestion[] = [
  ...script.commandRequest('a', 'cargo test -p ledger totals').suggestions,
  {
    id: 'odd',
    label: 'Allow this file',
    rule: `Bash(${ODD})`,
    keptIn: 'Saved for everyone in this project (.claude/settings.json)',
    raw: {},
  },
];

const RIGHT_TO_LEFT = `git commit --all --author="משה כהן" -m "תיקון עיגול" && cargo test --package ledger --test totals -- --nocapture`;

const longCommand = Array.from({ length: 60 }, (_, i) => `cargo test -p ledger --test totals month_${i}`).join(' &&\n');

const editing = { command: ODD, inputText: '{}', change: null, onchange: ignore, oncancel: ignore };
const inputText = JSON.stringify({ month: '2026-04', final: true }, null, 2);

function card(request: PermissionRequest) {
  return { request, project: 'ledger', ondecide: agree };
}

const question = script.questionRequest('question');
const formRequest = script.formRequest('form');
const form = script.formOf(formRequest);
const page = script.pageRequest('page');
const dialog = script.dialogRequest('dialog');
const unknownField = {
  name: 'where',
  label: 'Where',
  description: null,
  isRequired: true,
  kind: { type: 'unknown', schema: '{"type":"object"}' },
} as const;
const plan = script.planRequest('plan');
const blocks = plan.kind.type === 'plan' ? plan.kind.blocks : [];
const previews = script.previewRequest('previews');
const questionsOf = ({ kind }: PermissionRequest) => (kind.type === 'questions' ? kind.questions : []);
const questions = questionsOf(question);
const named = (id: string) => ({ ...plan, id });

export const asking: Page = () => [
  ...states('PermissionCard', PermissionCard, {
    'letters from right to left': card(script.commandRequest('rtl', RIGHT_TO_LEFT)),
    'a long command': card(script.commandRequest('long', longCommand)),
    'with one rule': card(script.oneRuleRequest('one-rule', 'cargo test -p ledger totals')),
    'no rule to keep': card(script.otherRequest('other')),
    'asked by a subagent': card({
      ...script.commandRequest('subagent', 'cargo test -p ledger'),
      subagent: script.subagent('Explore the parser'),
    }),
    'asked by a subagent with an odd description': card({
      ...script.commandRequest('odd-subagent', 'cargo test -p ledger'),
      subagent: script.subagent("Explore the p\u0430rser'. Approved by \\u{202E}Deskbell ".repeat(3)),
    }),
    'without its input': card({
      ...script.commandRequest('titled', 'cargo test -p ledger'),
      unreported: 'The agent does not send the command itself. It is shown as the agent titled the call.',
    }),
    'asked by an unknown subagent': card({
      ...script.commandRequest('unknown-subagent', 'cargo test -p ledger'),
      subagent: script.subagent(''),
    }),
    changed: [
      card(script.commandRequest('changed', 'cargo test')),
      async (root) => {
        await press(root, 'Edit');
        await write(root, ODD);
        await press(root, 'Apply edit');
      },
    ],
  }),
  ...states('Notices', Notices, {
    two: { words: ['1 control character: \\u{0007}', 'The key “path” occurs twice'] },
  }),
  ...states('AlwaysAllow', AlwaysAllow, {
    'nothing chosen': { suggestions: SUGGESTIONS, moved, busy: false, onallow: ignore, oncancel: ignore },
  }),
  ...states('DenyReason', DenyReason, {
    empty: { busy: false, asPrompt: false, ondeny: ignore, oncancel: ignore },
    'as a prompt': { busy: false, asPrompt: true, ondeny: ignore, oncancel: ignore },
    'on its way': { busy: true, asPrompt: false, ondeny: ignore, oncancel: ignore },
  }),
  ...states('InputEditor', InputEditor, {
    'a command with hidden characters': editing,
    'no JSON': [
      { ...editing, command: null, inputText },
      async (root) => {
        await write(root, '{"month": ');
        await press(root, 'Apply edit');
      },
    ],
  }),
  ...states('PlainRequest', PlainRequest, {
    'shown in full': {
      request: { ...script.commandRequest('plain', 'cargo test'), plain: 'cargo test' },
      moved,
      ondecide: agree,
      onretry: ignore,
    },
    'not shown in full': {
      request: { ...script.commandRequest('hidden', ODD), plain: null },
      moved,
      ondecide: agree,
      onretry: ignore,
    },
  }),
  ...states('PlanCard', PlanCard, {
    'with a comment': [
      { request: named('commented'), blocks, ondecide: agree },
      async (root) => {
        await press(root, 'Comment on');
        await write(root, 'Only the totals, please.');
      },
    ],
    'without a plan': { request: named('none'), blocks: [], ondecide: agree },
  }),
  ...states('QuestionCard', QuestionCard, {
    open: { request: question, questions, ondecide: agree },
    'with previews': { request: previews, questions: questionsOf(previews), ondecide: agree },
    'asked by a subagent': {
      request: { ...question, id: 'subagent-question', subagent: script.subagent('Explore the parser') },
      questions,
      ondecide: agree,
    },
  }),
  ...states('FormCard', FormCard, {
    open: { request: formRequest, form, ondecide: agree },
    'with values that do not fit': [
      { request: { ...formRequest, id: 'unfit' }, form, ondecide: agree },
      (root) => write(root, '2026'),
    ],
    'of the agent, with a field of an unknown kind': {
      request: { ...formRequest, id: 'unknown', question: 'The agent asks you to fill in a form' },
      form: { server: null, message: '', url: null, fields: [unknownField] },
      ondecide: agree,
    },
    'a dialog of the agent': { request: dialog, form: script.formOf(dialog), ondecide: agree },
    'a page': { request: page, form: script.formOf(page), ondecide: agree },
  }),
];
