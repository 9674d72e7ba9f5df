// The displayed facts about a turn and its limits, as time passes.

import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';

import type { Usage } from '../../bindings/api';
import { turnEnd } from '../../../fake/script';
import { SessionState } from '../session.svelte';
import { draw } from '../../../test/draw';
import { batch, session, snapshot } from '../../../test/make';
import ContextRing from './ContextRing.svelte';
import type { TurnEndBody } from './bodies';
import NowLine from './NowLine.svelte';
import TurnEndLine from './TurnEndLine.svelte';
import Until from './Until.svelte';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** The start time of the test clock. */
const NOW = 1_000_000;

it('says that nothing is heard for half a minute, and offers to stop', async () => {
  const facts = { status: { type: 'working' as const, activity: 'Running tests' }, turnStartedAt: NOW };
  const open = new SessionState(session(facts));
  open.load(snapshot(0, [], facts));
  let stopped = 0;
  let moved = 0;
  const { clock, container } = await draw(NowLine, {
    open,
    onstop: () => (stopped += 1),
    onbackground: () => (moved += 1),
  });
  const passes = async (ms: number) => {
    clock.advance(ms);
    await tick();
  };
  await passes(29 * SECOND);
  expect(container.textContent).not.toContain('No output');
  await passes(5 * SECOND);
  expect(container.textContent).toContain('No output for 34 s');
  await userEvent.setup().click(screen.getByRole('button', { name: 'Stop this turn' }));
  await userEvent.setup().click(screen.getByRole('button', { name: 'Continue in the background' }));
  expect([stopped, moved]).toEqual([1, 1]);

  // Any event restarts the silence timer.
  open.apply(batch(0, [{ type: 'tasksChanged', tasks: [] }]));
  await tick();
  await passes(10 * SECOND);
  expect(container.textContent).not.toContain('No output');
  await passes(21 * SECOND);
  expect(container.textContent).toContain('No output for 31 s');
});

it('counts the silence from the last that was told, through a reload', async () => {
  const facts = { status: { type: 'working' as const, activity: 'Running tests' }, turnStartedAt: NOW - MINUTE };
  const open = new SessionState(session(facts));
  const { container } = await draw(NowLine, { open, onstop: () => {}, onbackground: () => {} });
  expect(container.textContent).not.toContain('No output');
  open.load({ ...snapshot(7, [], facts), lastEventAt: NOW - 45 * SECOND });
  await tick();
  expect(container.textContent).toContain('No output for 45 s');
});

it('claims no silence of what it is not told', async () => {
  const facts = { status: { type: 'working' as const, activity: 'Running tests' }, turnStartedAt: NOW - MINUTE };
  const open = new SessionState(session(facts));
  const { container } = await draw(NowLine, { open, onstop: () => {}, onbackground: () => {} });
  const told = snapshot(7, [], facts);
  open.load({ ...told, rows: { ...told.rows, end: 400, total: 9_000 }, lastEventAt: NOW - 45 * SECOND });
  await tick();
  expect(container.textContent).not.toContain('No output');
});

it('times nothing while the connection is lost, and says so', async () => {
  const facts = {
    status: { type: 'working' as const, activity: 'Running tests' },
    turnStartedAt: NOW,
    link: { type: 'waiting' as const, attempt: 2, at: NOW + SECOND },
  };
  const open = new SessionState(session(facts));
  open.load(snapshot(0, [], facts));
  const { clock, container } = await draw(NowLine, { open, onstop: () => {}, onbackground: () => {} });
  clock.advance(60 * SECOND);
  await tick();
  expect(container.querySelector('.words')?.textContent).toBe('Working when last seen');
  expect(container.querySelector('time')).toBeNull();
  expect(container.textContent).not.toContain('No output');
});

it('does not blame an agent that was asked to stop already', async () => {
  const facts = { status: { type: 'interrupting' as const }, turnStartedAt: NOW };
  const open = new SessionState(session(facts));
  const { clock, container } = await draw(NowLine, { open, onstop: () => {}, onbackground: () => {} });
  clock.advance(60 * SECOND);
  await tick();
  expect(container.textContent).not.toContain('No output');
});

it('says when a limit resets, how long that is, and that it has', async () => {
  const { clock, container } = await draw(Until, { at: NOW + 95 * MINUTE });
  const time = new Date(NOW + 95 * MINUTE).toTimeString().slice(0, 5);
  expect(container.textContent).toBe(`; it resets at ${time}, in 1 h 35 min`);
  clock.advance(94 * MINUTE);
  await tick();
  expect(container.textContent).toBe(`; it resets at ${time}, in 1 min`);
  clock.advance(MINUTE);
  await tick();
  expect(container.textContent).toBe('; it has reset since');
});

it('measures the context against the window of the model, where that is known', async () => {
  const usage: Usage = { contextTokens: 68_000, contextWindow: 200_000, costUsd: 0.42, outputTokens: 1, byModel: [] };
  const onopen = vi.fn();
  const { container, redraw } = await draw(ContextRing, { usage, onopen });
  expect(container.textContent).toContain('34 %');
  expect(container.textContent).toContain('68,000 of 200,000 tokens in the context');
  container.querySelector('button')?.click();
  expect(onopen).toHaveBeenCalledOnce();
  await redraw({ usage: { ...usage, contextWindow: 1_000_000 } });
  expect(container.textContent).toContain('7 %');
  await redraw({ usage: { ...usage, contextWindow: null } });
  expect(container.textContent).toContain('68,000 tokens in the context');
  expect(container.textContent).not.toContain('%');
});

it('offers the login where a turn failed without one', async () => {
  const turn = turnEnd() as TurnEndBody;
  const onlogin = vi.fn();
  const of = (outcome: TurnEndBody['outcome']) => ({ turn: { ...turn, outcome }, onlogin });
  const { container, redraw } = await draw(TurnEndLine, of({ type: 'notLoggedIn' }));
  const button = () => container.querySelector('button');
  button()?.click();
  expect(onlogin).toHaveBeenCalledOnce();
  await redraw(of({ type: 'apiError', status: 401 }));
  expect(button()?.textContent).toBe('Log in…');
  for (const outcome of [{ type: 'done' }, { type: 'apiError', status: 529 }, { type: 'crashed' }] as const) {
    await redraw(of(outcome));
    expect(button()).toBe(null);
  }
  const notLoggedIn: TurnEndBody = { ...turn, outcome: { type: 'notLoggedIn' } };
  const without = await draw(TurnEndLine, { turn: notLoggedIn });
  expect(without.container.querySelector('button')).toBe(null);
});

it('says what a turn cost, if that is known', async () => {
  const turn = turnEnd() as TurnEndBody;
  const { container, redraw } = await draw(TurnEndLine, { turn });
  expect(container.textContent).toContain('$0.18');
  await redraw({ turn: { ...turn, costUsd: null } });
  expect(container.textContent).not.toMatch(/cost|\$/u);
});
