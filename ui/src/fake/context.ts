// What fills the context of a fake session, and the limits of its plan.

import type { ContextReport, ContextUsage, PlanLimits, Session } from '../lib/bindings/api';

export const NO_CONTEXT: ContextUsage = { isPending: false, report: null, problem: null };

export const NO_LIMITS: PlanLimits = { windows: [], overage: null };

const BUFFER = 33_000;

/** Tokens of all categories in use but the messages. */
const FIXED = 2_354 + 10_222 + 2_067 + 1_840;

/** A report for a window of which this many tokens are in use. */
export function contextReport(total: number, requestedAt: number, window = 200_000): ContextReport {
  const messages = Math.max(0, total - FIXED);
  const categories: ContextReport['categories'] = [
    { name: 'System prompt', tokens: 2_354, kind: 'used' },
    { name: 'System tools', tokens: 10_222, kind: 'used' },
    { name: 'Memory files', tokens: 1_840, kind: 'used' },
    { name: 'Skills', tokens: 2_067, kind: 'used' },
    { name: 'Messages', tokens: messages, kind: 'used' },
    { name: 'System tools (deferred)', tokens: 12_350, kind: 'deferred' },
    { name: 'Autocompact buffer', tokens: BUFFER, kind: 'reserved' },
    { name: 'Free space', tokens: Math.max(0, window - BUFFER - FIXED - messages), kind: 'free' },
  ];
  return {
    requestedAt,
    model: 'claude-opus-5-5',
    totalTokens: FIXED + messages,
    windowTokens: window,
    compactsAtTokens: window - BUFFER,
    categories,
  };
}

const MINUTE = 60_000;

/** Limits as reported at this time: one that is near, one that is not. */
export function planLimits(reportedAt: number): PlanLimits {
  return {
    windows: [
      {
        id: 'five_hour',
        name: 'five-hour limit',
        status: 'near',
        used: 0.91,
        resetsAt: reportedAt + 95 * MINUTE,
        reportedAt,
      },
      {
        id: 'seven_day',
        name: 'weekly limit',
        status: 'allowed',
        used: 0.34,
        resetsAt: reportedAt + 4 * 24 * 60 * MINUTE,
        reportedAt,
      },
    ],
    overage: {
      isAllowed: false,
      isUsed: false,
      reason: 'turned off for your organisation',
      resetsAt: null,
      reportedAt,
    },
  };
}

/** A session that the five-hour limit has stopped. */
export function limited(now: number): Pick<Session, 'status' | 'limits'> {
  const [reached, ...others] = planLimits(now).windows;
  const windows = reached === undefined ? [] : [{ ...reached, status: 'reached' as const, used: 1 }, ...others];
  return { status: { type: 'failed', message: 'You’ve hit your limit' }, limits: { windows, overage: null } };
}
