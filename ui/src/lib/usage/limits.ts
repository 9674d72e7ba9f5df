// Limits of the user's plan: the newest of those that the sessions of a project know, because they are the same for all.

import type { LimitWindow, PlanLimits } from '../bindings/api';

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

export const hasLimits = ({ windows, overage }: PlanLimits) => windows.length > 0 || overage !== null;

/** “91 % used”. 100 % only if all of it is used. */
export function usedWords({ used, status }: LimitWindow): string {
  if (used === null) return status === 'reached' ? 'Reached' : status === 'near' ? 'Nearly used up' : 'Not used up';
  const percent = Math.floor(Math.round(used * 10_000) / 100);
  return `${used < 1 ? Math.min(99, percent) : percent} % used`;
}
