import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { ContextUsage, PlanLimits, Session } from '../../bindings/api';
import { contextReport, limited, NO_CONTEXT, NO_LIMITS, planLimits } from '../../../fake/context';
import { CAPABILITIES, emptySession } from '../../../fake/facts';
import { ManualClock } from '../../../test/clock';
import { draw } from '../../../test/draw';
import { inWords, partsOf, percentOf } from './context';
import ContextDialog from './ContextDialog.svelte';
import LimitList from './LimitList.svelte';
import LimitNote from './LimitNote.svelte';
import { limitToWaitFor, newestLimits, usedWords } from './limits';

const NOW = new Date('2026-11-22T14:03:00').getTime();
const MINUTE = 60_000;

async function dialog(usage: Partial<ContextUsage>, facts: Partial<Session> = {}, limits: PlanLimits = NO_LIMITS) {
  const onask = vi.fn();
  const session = { ...emptySession('s1', 'Title'), alive: true, context: { ...NO_CONTEXT, ...usage }, ...facts };
  const drawn = await draw(ContextDialog, { session, limits, onask, onclose: () => {} });
  return { ...drawn, onask, session, text: () => drawn.container.textContent };
}

const cells = (root: HTMLElement) =>
  [...root.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent.trim()));

describe('what fills the context', () => {
  it('is requested on opening, and drawn as the agent reports it', async () => {
    const { container, onask, text } = await dialog({ report: contextReport(67_983, NOW) });
    expect(onask).toHaveBeenCalledOnce();
    expect(text()).toContain('34 %');
    expect(text()).toContain('67,983 of 200,000 tokens');
    expect(text()).toContain('compacted automatically at 167,000 tokens');
    expect(cells(container)).toEqual([
      ['System prompt', '2,354', '1.2 %'],
      ['System tools', '10,222', '5.1 %'],
      ['Memory files', '1,840', '0.9 %'],
      ['Skills', '2,067', '1.0 %'],
      ['Messages', '51,500', '26 %'],
      ['Autocompact buffer', '33,000', '17 %'],
      ['Free space', '99,017', '50 %'],
      ['Not in the context, loaded when needed'],
      ['System tools (deferred)', '12,350', '6.2 %'],
    ]);
    const pictures = screen.getAllByRole('img', { hidden: true });
    expect(pictures.map((picture) => picture.children.length)).toEqual([7]);
    expect(pictures[0]?.getAttribute('aria-label')).toContain('Messages: 51,500 tokens, 26 %');
    expect(pictures[0]?.getAttribute('aria-label')).not.toContain('deferred');
    const again = screen.getByRole('button', { name: 'Refresh', hidden: true });
    await fireEvent.click(again);
    expect(onask).toHaveBeenCalledTimes(2);
  });

  it('has a picture of its own where it is a small part of the window', async () => {
    await dialog({ report: { ...contextReport(20_483, NOW, 1_000_000), compactsAtTokens: null } });
    expect(screen.getAllByRole('img', { hidden: true }).map((picture) => picture.children.length)).toEqual([7, 5]);
  });

  it('is requested once the agent has started, and only once', async () => {
    const { onask, session, redraw, text } = await dialog({}, { status: { type: 'starting' } });
    expect(onask).not.toHaveBeenCalled();
    expect(text()).toContain('The agent is starting.');
    const idle = { ...session, status: { type: 'idle' as const } };
    await redraw({ session: idle });
    expect(onask).toHaveBeenCalledOnce();
    await redraw({ session: { ...idle, context: { ...NO_CONTEXT, isPending: true } } });
    expect(text()).toContain('Asking the agent…');
    await redraw({ session: { ...idle, context: { ...NO_CONTEXT, problem: 'It did not answer.' } } });
    expect(text()).toContain('It did not answer.');
    expect(onask).toHaveBeenCalledOnce();
  });

  it('is not requested of an agent that cannot report it, or does not run', async () => {
    const without = await dialog({}, { capabilities: { ...CAPABILITIES, context: false } });
    expect(without.onask).not.toHaveBeenCalled();
    expect(without.text()).toContain('does not report what fills its context');
    without.unmount();
    const stopped = await dialog({ report: contextReport(67_983, NOW) }, { alive: false });
    expect(stopped.onask).not.toHaveBeenCalled();
    expect(stopped.text()).toContain('The agent is not running.');
    expect(stopped.text()).toContain('As of ');
    expect(screen.queryByRole('button', { name: 'Refresh', hidden: true })).toBeNull();
  });

  it('is only how full it is, for an agent that reports no more', async () => {
    const usage = { contextTokens: 50_000, contextWindow: 200_000, costUsd: 0, outputTokens: 0, byModel: [] };
    const capabilities = { ...emptySession('s1', '').capabilities, context: false };
    const { onask, text } = await dialog({}, { agent: 'acp', agentName: 'opencode', usage, capabilities });
    expect(text()).toMatch(/25\s%\s*50,000 of 200,000 tokens/u);
    expect(text()).toContain('opencode does not report what fills its context.');
    expect(onask).not.toHaveBeenCalled();
  });

  it('has shares and words for all sizes', () => {
    expect([0, 0.0001, 0.012, 0.09949, 0.0996, 1].map(percentOf)).toEqual([
      '0 %',
      '< 0.1 %',
      '1.2 %',
      '9.9 %',
      '10 %',
      '100 %',
    ]);
    const categories = Array.from({ length: 8 }, () => ({ name: 'Skills', tokens: 1, kind: 'used' as const }));
    const parts = partsOf({ ...contextReport(0, NOW), windowTokens: 8, categories });
    expect(parts[0]?.colour).toBe(parts[6]?.colour);
    expect(inWords(parts.slice(0, 2))).toBe('Skills: 1 tokens, 13 %. Skills: 1 tokens, 13 %');
  });
});

describe('the limits of the plan', () => {
  it('are listed with share, reset and overage', async () => {
    const { clock, container } = await draw(LimitList, { limits: NO_LIMITS });
    expect(container.querySelectorAll('li')).toHaveLength(0);
    clock.advance(0);
    const now = clock.now();
    const drawn = await draw(LimitList, { limits: planLimits(now) });
    const items = [...drawn.container.querySelectorAll('li')].map((item) =>
      item.textContent.replace(/\s+/g, ' ').trim(),
    );
    expect(items).toHaveLength(3);
    expect(items[0]).toMatch(/^five-hour limit 91 % used Resets at (\w+ )?\d\d:\d\d, in 1 h 35 min · As of /);
    expect(items[1]).toMatch(/^weekly limit 34 % used Resets at .*, in 4 days/);
    expect(items[2]).toMatch(/^Overage Not allowed turned off for your organisation · As of /);
    drawn.clock.advance(95 * MINUTE);
    await tick();
    expect(drawn.container.textContent).toContain('Has reset since');
  });

  it('are the newest of all sessions', () => {
    const [old, recent] = [planLimits(10), planLimits(20)];
    const only = { ...recent, windows: recent.windows.slice(0, 1) };
    const newest = newestLimits([{ limits: only }, { limits: old }, { limits: NO_LIMITS }]);
    expect(newest.windows.map(({ id, reportedAt }) => [id, reportedAt])).toEqual([
      ['five_hour', 20],
      ['seven_day', 10],
    ]);
    expect(newest.overage?.reportedAt).toBe(20);
  });

  it('say 100 % only when all is used', () => {
    const [limit] = planLimits(0).windows;
    if (limit === undefined) throw new Error('no limit');
    expect([0.29, 0.9999, 1, 1.2].map((used) => usedWords({ ...limit, used }))).toEqual([
      '29 % used',
      '99 % used',
      '100 % used',
      '120 % used',
    ]);
    expect(usedWords({ ...limit, used: null, status: 'reached' })).toBe('Reached');
  });

  it('offer to continue a session that one of them stopped, until it has reset', async () => {
    const oncontinue = vi.fn();
    const now = new ManualClock().now();
    const session = (facts: Partial<Session>) => ({ ...emptySession('s1', 'Title'), ...limited(now), ...facts });
    const { container, clock } = await draw(LimitNote, { session: session({}), oncontinue });
    expect(container.textContent.replace(/\s+/g, ' ')).toMatch(
      /five-hour limit resets at .*\d\d:\d\d, in 1 h 35 min\./,
    );
    await fireEvent.click(screen.getByRole('button', { name: 'Continue when it resets' }));
    expect(oncontinue).toHaveBeenCalledOnce();
    clock.advance(95 * MINUTE);
    await tick();
    expect(container.textContent.trim()).toBe('');
    const note = (facts: Partial<Session>) => limitToWaitFor(session(facts), now)?.id ?? null;
    expect(note({})).toBe('five_hour');
    expect(note({ status: { type: 'completed' } })).toBeNull();
    expect(note({ limits: planLimits(now) })).toBeNull();
    const prompt = {
      id: 'p',
      text: '',
      nImages: 0,
      nDocuments: 0,
      held: true,
      cutOff: false,
      delivery: 'afterTurn',
    } as const;
    expect(note({ queue: [{ ...prompt, sendsAt: now }] }), 'it is chosen').toBeNull();
    expect(note({ queue: [{ ...prompt, sendsAt: null }] })).toBe('five_hour');
    const [first] = limited(now).limits.windows;
    if (first === undefined) throw new Error('no limit');
    const windows = [first, { ...first, id: 'seven_day', resetsAt: now + 1e9 }];
    expect(note({ limits: { windows, overage: null } }), 'both have to reset').toBe('seven_day');
    const unknown = [first, { ...first, id: 'seven_day', resetsAt: null }];
    expect(note({ limits: { windows: unknown, overage: null } })).toBeNull();
  });

  it('are in the dialog of the context too', async () => {
    const { text } = await dialog({}, {}, planLimits(NOW));
    expect(text()).toContain('five-hour limit');
  });
});
