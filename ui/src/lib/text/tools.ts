// Words for tool calls, in addition to the engine's. The engine makes verbs, subjects and notes, because exports and
// the relay show them too.

import type { ToolCall, ToolState } from '../bindings/api';
import { plural } from '../kit/amounts';

/** The label of a state's icon, also for screen readers. */
export const TOOL_STATES: Record<ToolState, string> = {
  preparing: 'Not started',
  running: 'Running',
  waiting: 'Waiting for your answer',
  background: 'Running in the background',
  succeeded: 'Succeeded',
  failed: 'Failed',
  denied: 'Denied, did not run',
  notRun: 'Interrupted before it ran',
  interrupted: 'Interrupted while it ran',
};

/** States by priority: a row with several calls shows the first one that occurs. */
const ORDER: ToolState[] = [
  'waiting',
  'running',
  'background',
  'preparing',
  'failed',
  'denied',
  'interrupted',
  'notRun',
];

export function stateOfAll(states: readonly ToolState[]): ToolState {
  return ORDER.find((one) => states.includes(one)) ?? 'succeeded';
}

/** Whether a call's changes took place or still may. Otherwise they are not counted. */
export function countsChanges(state: ToolState): boolean {
  return state !== 'failed' && state !== 'denied' && state !== 'notRun' && state !== 'interrupted';
}

/** The note for a change that is shown but was not made, or not completely. */
export function changeNotMade(state: ToolState): string | null {
  if (state === 'denied' || state === 'notRun') return 'This change was not made.';
  if (state === 'interrupted') return 'This change may have been made in part.';
  return null;
}

/** The number of background tasks, in words. */
export function backgroundWords(n: number): string {
  return n === 1 ? '1 task running in the background' : `${n} tasks running in the background`;
}

/** A run of lookups in words. Only successful ones are in the past tense; the others use the engine's words. */
export function lookupWords(calls: readonly Pick<ToolCall, 'icon' | 'state' | 'verb' | 'subject'>[]): string {
  const done = calls.filter((call) => call.state === 'succeeded');
  const others = calls.filter((call) => call.state !== 'succeeded');
  const nRead = done.filter((call) => call.icon === 'read').length;
  const nSearched = done.length - nRead;
  const parts: string[] = [];
  if (nSearched > 0) parts.push(`searched ${plural(nSearched, 'time')}`);
  if (nRead > 0) parts.push(`read ${plural(nRead, 'file')}`);
  const [first] = others;
  if (first !== undefined && others.length === 1) parts.push(call(first));
  const last = parts.pop();
  const words = last === undefined ? [] : [parts.length === 0 ? last : `${parts.join(', ')} and ${last}`];
  if (others.length > 1) words.push(rest(others));
  const line = words.join(' · ');
  return line.charAt(0).toUpperCase() + line.slice(1);
}

/** A run of changes to the task list in words, with the list's progress after the last change that succeeded. */
export function taskWords(calls: readonly Pick<ToolCall, 'state' | 'note'>[]): string {
  const progress = calls.findLast((call) => call.state === 'succeeded' && call.note !== null)?.note ?? null;
  const state = stateOfAll(calls.map((call) => call.state));
  const isOpen = state === 'running' || state === 'preparing' || state === 'waiting';
  if (isOpen) return progress === null ? 'Updating tasks' : `Updating tasks: ${progress}`;
  return progress === null ? 'Tasks' : `Updated tasks: ${progress}`;
}

/** A single call in the engine's words. */
function call({ verb, subject }: Pick<ToolCall, 'verb' | 'subject'>): string {
  return `${verb.charAt(0).toLowerCase()}${verb.slice(1)} ${subject}`;
}

function rest(others: readonly Pick<ToolCall, 'icon' | 'state'>[]): string {
  const isOpen = others.some(({ state }) => state === 'preparing' || state === 'running' || state === 'waiting');
  return isOpen ? `${plural(others.length, 'more lookup')} in progress` : withoutResult(others);
}

/** “2 searches failed”, “3 files not read”, or “4 lookups denied” if there are both kinds. */
function withoutResult(calls: readonly Pick<ToolCall, 'icon' | 'state'>[]): string {
  if (calls.every(({ icon }) => icon === 'read')) return `${plural(calls.length, 'file')} not read`;
  const isSearch = calls.every(({ icon }) => icon !== 'read');
  const noun = isSearch ? plural(calls.length, 'search', 'searches') : plural(calls.length, 'lookup');
  const all = (state: ToolCall['state']) => calls.every((call) => call.state === state);
  return `${noun} ${all('failed') ? 'failed' : all('denied') ? 'denied' : 'not finished'}`;
}
