// Limits of the user's plan: the newest of those that the sessions of a project know, because they are the same for all.

import type { LimitWindow, PlanLimits, Session } from '../../bindings/api';

export function newestLimits(sessions: readonly { limits: PlanLimits }[]): PlanLimits {
  const windows = new Map<string, LimitWindow>();
  let overage: PlanLimits['overage'] = null;
  for (const { limits } of sessions) {
    for (const limit of limits.windows) {
      const known = windows.get(limit.id);
      if (known === undefined || known.reportedAt < limit.reportedAt) windows.set(limit.id, limit);
    }
    if (limits.overage !== null && (overage === null || overage.reportedAt < limits.overage.reportedAt)) {
      overage = limits.overage;
    }
  }
  return { windows: [...windows.values()], overage };
}

/** The limit that is reached and resets last; `null` if none is, or if a reset is not known. */
export function reachedLimit({ windows }: PlanLimits, now: number): (LimitWindow & { resetsAt: number }) | null {
  const reached = windows.filter(({ status, resetsAt }) => status === 'reached' && (resetsAt ?? Infinity) > now);
  const known = reached.filter((limit): limit is LimitWindow & { resetsAt: number } => limit.resetsAt !== null);
  if (known.length < reached.length) return null;
  return known.reduce<(typeof known)[number] | null>(
    (last, limit) => (last === null || limit.resetsAt > last.resetsAt ? limit : last),
    null,
  );
}

/** The limit after which a failed session could continue by itself, if that is not chosen yet. */
export function limitToWaitFor({ status, limits, queue }: Session, now: number): ReturnType<typeof reachedLimit> {
  const isChosen = queue.some(({ sendsAt }) => sendsAt !== null);
  return status.type !== 'failed' || isChosen ? null : reachedLimit(limits, now);
}

export const hasLimits = ({ windows, overage }: PlanLimits) => windows.length > 0 || overage !== null;

/** “91 % used”. 100 % only if all of it is used. */
export function usedWords({ used, status }: LimitWindow): string {
  if (used === null) return status === 'reached' ? 'Reached' : status === 'near' ? 'Nearly used up' : 'Not used up';
  const percent = Math.floor(Math.round(used * 10_000) / 100);
  return `${used < 1 ? Math.min(99, percent) : percent} % used`;
}
