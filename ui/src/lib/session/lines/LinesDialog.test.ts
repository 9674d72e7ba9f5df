import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import { FakeHost } from '../../../fake/host';
import { RAW_LINES } from '../../../fake/raw';
import { ProjectState } from '../../project/project.svelte';
import { ManualClock } from '../../../test/clock';
import Harness from '../../../test/Harness.svelte';
import type { RawLine, RawLines } from '../../bindings/api';
import LinesDialog from './LinesDialog.svelte';

const LINE = RAW_LINES.lines[1] as RawLine;
const NONE: RawLines = { ...RAW_LINES, lines: [], last: 0, nUnknown: 0, nUnreadable: 0 };
const answer = (...nrs: number[]): RawLines => ({
  ...NONE,
  lines: nrs.map((nr) => ({ ...LINE, nr, text: `line ${nr}` })),
  last: Math.max(0, ...nrs),
});

async function dialog(load: (after: number) => Promise<RawLines>) {
  const clock = new ManualClock();
  const oncopy = vi.fn(() => Promise.resolve(true));
  const project = await ProjectState.start(new FakeHost('conversation'));
  const inner = { load, oncopy, onclose: () => {} };
  render(Harness, { component: LinesDialog, inner, clock, project } as never);
  const passes = async (ms: number) => {
    clock.advance(ms);
    await tick();
  };
  return { user: userEvent.setup(), oncopy, passes };
}

const pane = () => screen.getByRole('group', { name: 'Lines' });
const texts = () => [...pane().querySelectorAll('code')].map((code) => code.textContent);

describe('the lines of an agent', () => {
  it('are followed while they are shown, and read once', async () => {
    const answers = [answer(1, 2), { ...answer(), last: 2 }, answer(3)];
    const asked: number[] = [];
    const { passes } = await dialog((after) => {
      asked.push(after);
      return Promise.resolve(answers.shift() ?? { ...answer(), last: after });
    });
    await waitFor(() => expect(texts()).toEqual(['line 1', 'line 2']));
    await passes(1_000);
    await waitFor(() => expect(asked).toEqual([0, 2]));
    await tick();
    await passes(1_000);
    await waitFor(() => expect(texts()).toEqual(['line 1', 'line 2', 'line 3']));
    await passes(1_000);
    expect(asked).toEqual([0, 2, 2, 3]);
  });

  it('are read to their end when one answer does not have them all', async () => {
    const answers = [{ ...answer(1), hasMore: true }, answer(2)];
    await dialog(() => Promise.resolve(answers.shift() ?? { ...answer(), last: 2 }));
    await waitFor(() => expect(texts()).toEqual(['line 1', 'line 2']));
  });

  it('begin again when the process that has the session was restarted', async () => {
    const answers = [answer(1, 2, 3), answer(1)];
    const { passes } = await dialog(() => Promise.resolve(answers.shift() ?? { ...answer(), last: 1 }));
    await waitFor(() => expect(texts()).toHaveLength(3));
    await passes(1_000);
    await waitFor(() => expect(texts()).toEqual(['line 1']));
  });

  it('are counted, filtered and copied', async () => {
    const { user, oncopy } = await dialog(() => Promise.resolve(RAW_LINES));
    await screen.findByText('1 line of an unknown kind and 1 unreadable line since this session was opened.');
    await user.click(screen.getByRole('checkbox'));
    expect(texts()).toHaveLength(2);
    expect(texts()[0]).toContain('weather_changed');
    await user.click(screen.getByRole('button', { name: 'Copy these lines' }));
    expect(oncopy).toHaveBeenCalledWith(
      expect.stringMatching(/^\[.* · From the agent · Unknown kind\] \{.*\n.*no JSON/su),
    );
    await screen.findByRole('button', { name: 'Copied' });
  });

  it('show control characters as escapes, and no markup', async () => {
    const text = '\u001B[31m<b>red</b>\u202E';
    await dialog(() => Promise.resolve({ ...answer(1), lines: [{ ...LINE, nr: 1, text }] }));
    await waitFor(() => expect(texts()).toEqual(['\\u{001B}[31m<b>red</b>\\u{202E}']));
    expect(pane().querySelector('b')).toBeNull();
  });

  it('are shortened until one is unfolded', async () => {
    const text = `{"text":"${'a'.repeat(1_000)}"}`;
    const { user } = await dialog(() => Promise.resolve({ ...answer(1), lines: [{ ...LINE, nr: 1, text, nCut: 7 }] }));
    const more = await screen.findByRole('button', { name: 'Whole line' });
    expect(texts()[0]?.length).toBeLessThan(200);
    await user.click(more);
    expect(texts()[0]).toBe(text);
    within(pane()).getByText('… 7 bytes more, not kept');
  });

  it('stay bounded, and say how many are missing', async () => {
    let nr = 0;
    const next = () => Array.from({ length: 500 }, () => (nr += 1));
    const { passes, user } = await dialog(() => Promise.resolve({ ...answer(...next()), nDropped: 10 }));
    for (let i = 0; i < 5; i += 1) await passes(1_000);
    await waitFor(() => expect(pane().textContent).toMatch(/[\d,]+ lines are no longer kept/u));
    expect(texts()).toHaveLength(100);
    await user.click(screen.getByRole('button', { name: '1,000 earlier lines: show 100' }));
    expect(texts()).toHaveLength(200);
  });

  it('say why they cannot be read', async () => {
    await dialog(() => Promise.reject({ code: 'refused', message: 'The session did not answer.', detail: null }));
    await screen.findByText('The session did not answer.');
  });
});
