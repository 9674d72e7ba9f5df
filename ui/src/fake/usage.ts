// Usage pages of the fake host: what some sessions cost.

import type { UsageRow, UsageView } from '../lib/bindings/api';

const DAY = 24 * 60 * 60 * 1000;

function row(cost: number, facts: Partial<UsageRow> = {}): UsageRow {
  return {
    day: null,
    project: null,
    sessionId: null,
    title: null,
    model: null,
    turns: 3,
    cost: String(Number(cost.toFixed(6))),
    inputTokens: Math.round(cost * 20_000),
    outputTokens: Math.round(cost * 9_000),
    cacheReadTokens: Math.round(cost * 410_000),
    cacheWriteTokens: Math.round(cost * 32_000),
    ...facts,
  };
}

const TITLES = ['Round half to even in totals', 'Explain the import pipeline', 'Speed up the nightly export'];

/** A page with this many days and sessions. The engine sends at most 200 sessions. */
export function usageOf(nDays: number, nSessions: number): UsageView {
  const first = Date.UTC(2026, 10, 22) - (nDays - 1) * DAY;
  const dayCost = (i: number) => 0.2 + ((i * 37) % 11) * 0.31 + (i % 7 === 5 ? 0.000_4 : 0);
  const days = Array.from({ length: nDays }, (_, i) =>
    row(dayCost(i), { day: new Date(first + i * DAY).toISOString().slice(0, 10) }),
  ).filter((_, i) => i % 6 !== 2);
  const total = days.reduce((sum, { cost }) => sum + Number(cost), 0);
  const sessions = Array.from({ length: Math.min(nSessions, 200) }, (_, i) =>
    row(total / (i + 2), {
      project: '/home/user/ledger',
      sessionId: `usage-${i}`,
      title: i % 9 === 8 ? null : (TITLES[i % TITLES.length] ?? null),
    }),
  );
  return {
    total: row(total),
    days,
    models: [row(total * 0.9, { model: 'claude-opus-5-5' }), row(total * 0.1, { model: 'claude-haiku-4-5' })],
    projects: [
      row(total * 0.75, { project: '/home/user/ledger' }),
      row(total * 0.25, { project: '/home/user/import-pipeline' }),
    ],
    sessions,
    nSessions,
    nUnreadable: 0,
  };
}

export const NO_USAGE: UsageView = {
  total: row(0),
  days: [],
  models: [],
  projects: [],
  sessions: [],
  nSessions: 0,
  nUnreadable: 0,
};
