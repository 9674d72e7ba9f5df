// Stories of the usage page, the context window and the limits of the plan.

import { tick } from 'svelte';

import type { Session } from '../lib/bindings/api';
import { contextReport, limited, NO_CONTEXT, NO_LIMITS, planLimits } from '../fake/context';
import { emptySession } from '../fake/facts';
import { NO_USAGE, usageOf } from '../fake/usage';
import { partsOf } from '../lib/session/usage/context';
import ContextBar from '../lib/session/usage/ContextBar.svelte';
import ContextDialog from '../lib/session/usage/ContextDialog.svelte';
import LimitList from '../lib/session/usage/LimitList.svelte';
import LimitNote from '../lib/session/usage/LimitNote.svelte';
import UsageDays from '../lib/session/usage/UsageDays.svelte';
import UsageDialog from '../lib/session/usage/UsageDialog.svelte';
import UsageTable from '../lib/session/usage/UsageTable.svelte';
import { ignore, press, states, type Page } from './story';

const page = (view: ReturnType<typeof usageOf> | null) => ({
  limits: NO_LIMITS,
  load: () => Promise.resolve(view),
  onexport: () => Promise.resolve('/home/user/Documents/deskbell-usage.csv'),
  onclose: ignore,
});

const report = contextReport(67_983, Date.now());
const context = (facts: Partial<Session>, limits = NO_LIMITS) => ({
  session: { ...emptySession('s1', 'Round half to even in totals'), alive: true, ...facts },
  limits,
  onask: ignore,
  onclose: ignore,
});
const asked = (facts: Partial<Session['context']>) => ({ context: { ...NO_CONTEXT, ...facts } });

const month = usageOf(31, 24);
const nameOf = ({ model }: { model: string | null }) => model ?? '';

export const usage: Page = () => [
  ...states('LimitNote', LimitNote, {
    'a limit stopped the session': {
      session: { ...emptySession('s1', 'Round half to even'), ...limited(Date.now()) },
      oncontinue: ignore,
    },
  }),
  ...states('UsageDialog', UsageDialog, {
    'nothing yet': page(NO_USAGE),
    'one session': page(usageOf(1, 1)),
    'with the limits of the plan': { ...page(usageOf(1, 1)), limits: planLimits(Date.now()) },
    'a month': page(month),
    'exported, of all projects': [
      page({ ...month, nUnreadable: 2 }),
      async (root) => {
        root.querySelector<HTMLElement>('input[type=checkbox]')?.click();
        await tick();
        await tick();
        await press(root, 'Export CSV');
        await press(root, 'Numbers');
      },
    ],
    '10,000 sessions': page(usageOf(366, 10_000)),
    loading: { ...page(null), load: () => new Promise(ignore) },
    failed: page(null),
  }),
  ...states('ContextDialog', ContextDialog, {
    'a third, with limits': context(asked({ report }), planLimits(Date.now())),
    'a small part of a large window': context(
      asked({ report: { ...contextReport(20_483, Date.now(), 1_000_000), compactsAtTokens: null } }),
    ),
    'asking the agent': context(asked({ isPending: true })),
    'asked again without an answer': context(asked({ report, problem: 'The agent did not answer within 15 s.' })),
    starting: context({ alive: true, status: { type: 'starting' } }),
    'the agent does not run': context({ ...asked({ report }), alive: false }),
    'of another agent, which reports only how full it is': context({
      alive: true,
      agent: 'acp',
      agentName: 'opencode',
      usage: { contextTokens: 31_000, contextWindow: 200_000, costUsd: 0, outputTokens: 0, byModel: [] },
      capabilities: { ...emptySession('s1', '').capabilities, context: false },
    }),
    'of a version that does not report it': context({
      capabilities: { ...emptySession('s1', '').capabilities, context: false },
    }),
  }),
  ...states('ContextBar', ContextBar, {
    'a third': { label: 'The context window', parts: partsOf(report).filter(({ kind }) => kind !== 'deferred') },
  }),
  ...states('LimitList', LimitList, {
    'near and allowed': { limits: planLimits(Date.now()) },
    'reached, with overage': {
      limits: {
        windows: planLimits(Date.now()).windows.map((limit) => ({ ...limit, used: 1, status: 'reached' as const })),
        overage: {
          isAllowed: true,
          isUsed: true,
          reason: null,
          resetsAt: Date.now() + 3_600_000,
          reportedAt: Date.now(),
        },
      },
    },
    'has reset since': { limits: planLimits(Date.now() - 30 * 24 * 3_600_000) },
    'of a share that is not known': {
      limits: {
        windows: planLimits(Date.now()).windows.map((limit) => ({ ...limit, used: null, resetsAt: null })),
        overage: null,
      },
    },
  }),
  ...states('UsageDays', UsageDays, {
    'one day': { days: usageOf(1, 1).days },
    'a month': { days: month.days },
  }),
  ...states('UsageTable', UsageTable, {
    models: { title: 'Model', rows: month.models, nameOf },
  }),
];
