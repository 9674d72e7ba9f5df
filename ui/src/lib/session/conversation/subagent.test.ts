import { createRawSnippet, tick, type Component } from 'svelte';
import { beforeEach, expect, it } from 'vitest';

import { render, screen } from '@testing-library/svelte';

import { ManualClock } from '../../../test/clock';
import Harness from '../../../test/Harness.svelte';
import { FakeHost } from '../../../fake/host';
import { tool, whole } from '../../../fake/script';
import type { SessionState } from '../session.svelte';
import { Attention } from '../../kit/attention.svelte';
import { ProjectState } from '../../project/project.svelte';
import Transcript from './Transcript.svelte';

const nothing = createRawSnippet(() => ({ render: () => '<i></i>' }));

beforeEach(() => localStorage.clear());

const command = (what: string) => tool('command', 'Ran', what, { type: 'json', input: '{}', output: whole([]) });
const agent = (what: string) =>
  tool('agent', 'Asked an agent to', what, { type: 'json', input: '{}', output: whole([]) });

/** A conversation with an agent that made `n` steps, the last one by another agent, and a command after it. */
async function conversation(n: number) {
  const host = new FakeHost('conversation');
  const project = await ProjectState.start(host);
  const session = host.session('s1');
  if (session === undefined) throw new Error('no session');
  const call = session.add(agent('look'));
  const steps = Array.from({ length: n }, (_, i) => session.add(command(`step ${i}`), call));
  const inner = session.add(agent('look again'), call);
  const last = session.add(command('the last step'), inner);
  session.add(command('the end'));
  await project.openSession('s2');
  await project.openSession('s1');
  const open = project.open as SessionState;
  const nRows = open.held.total;
  return { project, session, open, call, steps, inner, last, nRows };
}

const loaded = async (open: SessionState, total: number) => {
  await expect.poll(() => open.held.total).toBe(total);
  await tick();
};

it('is one row until its call is open, and then a row for each of its steps', async () => {
  const { open, session, call, steps, nRows } = await conversation(3);
  expect(steps.map((id) => open.item(id))).toEqual([undefined, undefined, undefined]);
  const item = open.item(call);
  if (item === undefined) throw new Error('no call');
  open.unfold(item, true);
  await loaded(open, nRows + 4);
  const index = open.rows.findIndex((row) => row.key === call);
  expect(open.rows.slice(index, index + 5).map((row) => row.kind === 'item' && [row.item.id, row.item.depth])).toEqual([
    [call, 0],
    ...steps.map((id) => [id, 1]),
    [expect.any(String), 1],
  ]);
  // It goes on: another row follows its call, so all rows below move.
  session.add(command('one more'), call);
  await loaded(open, nRows + 5);
  open.unfold(item, false);
  await loaded(open, nRows);
  expect(open.nEntries).toBe(nRows);
});

it('has a bounded part of its steps in the window, however many it makes', async () => {
  const { open, call, nRows } = await conversation(2_000);
  const item = open.item(call);
  if (item === undefined) throw new Error('no call');
  open.unfold(item, true);
  await loaded(open, nRows + 2_001);
  expect(open.rows.length).toBeLessThanOrEqual(240);
});

it('is opened, and a call inside it, to show a step that is sought', async () => {
  let shown: ReturnType<typeof Transcript> | undefined;
  // A component is a function that returns what the component exports.
  const Caught: typeof Transcript = (...drawn) => (shown = Transcript(...drawn));
  const { project, open, call, inner, last } = await conversation(20);
  const inside = { session: open, footer: nothing, empty: nothing };
  const [attention, clock] = [new Attention(), new ManualClock()];
  render(Harness, {
    component: Caught as unknown as Component<Record<string, unknown>>,
    project,
    attention,
    clock,
    inner: inside,
  });
  const row = await project.acts.locate('s1', last);
  shown?.showItem(last, row ?? 0, true);
  await expect.poll(() => open.item(last)?.open).toBe(true);
  expect([call, inner].map((id) => open.item(id)?.open)).toEqual([true, true]);
  expect(open.place.following).toBe(false);
  expect(screen.getByText('the last step')).toBeTruthy();
  expect(screen.getAllByRole('group', { name: 'Step of a subagent' }).length).toBeGreaterThan(0);
});
