/** The words of a scheduled turn in the side panel. */
import type { ScheduledTurn } from '../../bindings/api';
import { elapsed } from '../../text/time';

/** What the agent will be asked, or what kind of turn it is. */
export function scheduledName(turn: ScheduledTurn): string {
  if (turn.prompt !== '') return turn.prompt;
  return turn.kind === 'wakeUp' ? 'A wake-up' : turn.repeats ? 'A repeated job' : 'A job that runs once';
}

/**
 * Its times, and the time until the next one: “Every minute · in 12 s”. The agent words the only time of a job like a
 * repeated one (“Every day at 3:17 PM”), so the time until then stands alone.
 */
export function scheduledTimes(turn: ScheduledTurn, now: number): string {
  const isOnce = !turn.repeats && turn.nextAt !== null;
  const all = isOnce || turn.times === '' ? [] : [turn.times];
  if (turn.nextAt !== null) all.push(turn.nextAt > now ? `in ${elapsed(turn.nextAt - now)}` : 'due');
  return all.join(' · ');
}
