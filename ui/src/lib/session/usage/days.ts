// The days of the usage picture: the month that ends with the last day that cost something.

import type { UsageRow } from '../../bindings/api';
import { dollars } from '../../kit/amounts';
import { fullDay } from '../../text/time';

const MONTH = 31;
const DAY = 24 * 60 * 60 * 1000;

export interface Day {
  /** “3 Nov 2026”. */
  name: string;
  /** In dollars, for the picture and its words; sums are made by the engine. */
  cost: number;
  /** The cost in percent of that of the most expensive day. */
  percent: number;
}

/** “3 Nov 2026” for `2026-11-03`. What is no date stays as it is. */
export function dayName(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? day : fullDay(at);
}

/** The 31 days that end with the last one, also those without costs. */
export function lastMonth(rows: readonly UsageRow[]): Day[] {
  const costs = new Map<number, number>();
  for (const row of rows) {
    const at = Date.parse(`${row.day ?? ''}T00:00:00Z`);
    const cost = Number(row.cost);
    if (!Number.isNaN(at) && Number.isFinite(cost)) costs.set(at, cost);
  }
  if (costs.size === 0) return [];
  const last = [...costs.keys()].reduce((a, b) => Math.max(a, b));
  const days = Array.from({ length: MONTH }, (_, i) => last - (MONTH - 1 - i) * DAY);
  const most = days.reduce((max, at) => Math.max(max, costs.get(at) ?? 0), 0);
  return days.map((at) => {
    const cost = costs.get(at) ?? 0;
    return { name: fullDay(at), cost, percent: most > 0 ? (100 * cost) / most : 0 };
  });
}

/** The picture in words. */
export function inWords(days: readonly Day[]): string {
  const [first, last] = [days[0], days.at(-1)];
  const most = days.find((day) => day.percent === 100);
  if (first === undefined || last === undefined) return 'No day has a cost';
  const peak = most === undefined ? '' : ` The most on one day: ${dollars(most.cost)} on ${most.name}.`;
  return `Cost by day from ${first.name} to ${last.name}.${peak}`;
}
