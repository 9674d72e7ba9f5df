import { fireEvent, screen, within } from '@testing-library/svelte';
import { describe, expect, it, vi } from 'vitest';

import type { Configuration, Session, TaskOutput } from '../../bindings/api';
import { configuration, NO_CONFIGURATION, server } from '../../../fake/configuration';
import { emptySession } from '../../../fake/facts';
import { outputLine } from '../../../fake/markdown';
import { RULES } from '../../../fake/rules';
import { draw } from '../../../test/draw';
import ConfigurationDialog from './ConfigurationDialog.svelte';
import { noteOf, placeOf } from './words';

const NOW = new Date('2026-11-22T14:03:00').getTime();

const nothing = () => Promise.resolve<TaskOutput | null>(null);

async function page(all: Configuration, facts: Partial<Session> = {}, onlog = vi.fn(nothing)) {
  const calls = { onread: vi.fn(), onreconnect: vi.fn(), onenable: vi.fn(), onreload: vi.fn(), onlog };
  const session = { ...emptySession('s1', 'Title'), alive: true, rules: RULES, configuration: all, ...facts };
  const drawn = await draw(ConfigurationDialog, { session, ...calls, onclose: () => {} });
  return { ...drawn, ...calls, session, text: () => drawn.container.textContent.replace(/\s+/g, ' ') };
}

const region = (name: RegExp) => screen.getByRole('region', { name, hidden: true });
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name, hidden: true });

describe('what is configured', () => {
  it('is requested on opening, and each part is drawn', async () => {
    const { onread, text } = await page(configuration(NOW));
    expect(onread).toHaveBeenCalledOnce();
    const servers = [...region(/^MCP servers/).querySelectorAll('section > ul > li')].map((one) =>
      one.querySelector('.head')?.textContent.replace(/\s+/g, ' ').trim(),
    );
    expect(servers).toEqual([
      'tracker Connected Reconnect Turn off',
      'database Failed Reconnect Turn off',
      'calendar Needs a login Reconnect Turn off',
      'browser Off Turn on',
    ]);
    expect(text()).toContain('Connection closed');
    expect(region(/^Hooks/).textContent).toMatch(/PreToolUse: Bash.*\.\/scripts\/check\.sh.*at most 5 s/s);
    expect(region(/^Plugins/).textContent).toContain('review-tools@team');
    expect(region(/^Skills/).textContent).toMatch(/ship.*Builds a release.*This project/s);
    expect(region(/^Subagents/).textContent).toMatch(/Explore.*model haiku.*reviewer/s);
    expect(region(/^Memory files/).textContent).toContain('420 tokens');
    expect(region(/^Permission rules/).textContent).toContain('Read(./.env)');
    await fireEvent.click(button('Refresh'));
    expect(onread).toHaveBeenCalledTimes(2);
  });

  it('has the error output of a failed server, read by its exact name', async () => {
    const lines = [outputLine('no key <b>')];
    const log = vi.fn(() => Promise.resolve<TaskOutput | null>({ lines, isCut: true }));
    const { text } = await page(configuration(NOW), {}, log);
    expect(screen.getAllByRole('button', { name: /Error output/, hidden: true })).toHaveLength(1);
    expect(log).not.toHaveBeenCalled();
    await fireEvent.click(button('Error output database'));
    await vi.waitFor(() => expect(text()).toContain('no key <b>'));
    expect(text()).toContain('Only the end is shown.');
    expect(log.mock.calls.every(([name]: unknown[]) => name === 'database')).toBe(true);
    await fireEvent.click(button('Error output database'));
    expect(text()).not.toContain('no key');
  });

  it.each([
    [nothing, 'The agent kept no output of this server.'],
    [() => Promise.resolve<TaskOutput | null>({ lines: [], isCut: false }), 'The server wrote nothing'],
    [() => Promise.reject(new Error('no')), 'no'],
  ])('says why there is no error output', async (log, words) => {
    const { text } = await page(configuration(NOW), {}, vi.fn(log));
    await fireEvent.click(button('Error output database'));
    await vi.waitFor(() => expect(text()).toContain(words));
  });

  it('is changed by the exact name of a server', async () => {
    const { onreconnect, onenable, onreload } = await page(configuration(NOW));
    await fireEvent.click(button('Reconnect database'));
    expect(onreconnect).toHaveBeenCalledExactlyOnceWith('database');
    await fireEvent.click(button('Turn off tracker'));
    await fireEvent.click(button('Turn on browser'));
    expect(onenable.mock.calls).toEqual([
      ['tracker', false],
      ['browser', true],
    ]);
    await fireEvent.click(button('Load plugins and skills again'));
    expect(onreload).toHaveBeenCalledOnce();
  });

  it('shows a change that is carried out, and one that failed, with its server', async () => {
    const failures = [{ server: 'database', text: 'The agent could not do it: no such file' }];
    await page({ ...configuration(NOW), changing: ['tracker'], failures, isReloading: true });
    const busy = ['Turn off tracker', 'Turn off database', 'Load plugins and skills again'].map((name) =>
      button(name).getAttribute('aria-busy'),
    );
    expect(busy).toEqual(['true', null, 'true']);
    const entry = button('Turn off database').closest('li') as HTMLElement;
    expect(within(entry).getByText('The agent could not do it: no such file')).toBeTruthy();
  });

  it('is not requested of an agent that does not run, and once for each process', async () => {
    const { onread, redraw, session, text } = await page(NO_CONFIGURATION, { alive: false, rules: null });
    expect(onread).not.toHaveBeenCalled();
    expect(text()).toContain('The agent is not running.');
    expect(screen.queryByRole('button', { name: 'Refresh', hidden: true })).toBeNull();
    const runs = { ...session, alive: true, status: { type: 'idle' as const } };
    await redraw({ session: runs });
    await redraw({ session: { ...runs, configuration: { ...NO_CONFIGURATION, pending: ['servers'] as const } } });
    expect(onread).toHaveBeenCalledOnce();
    expect(text()).toContain('Asking the agent…');
    await redraw({ session });
    await redraw({ session: runs });
    expect(onread, 'another process').toHaveBeenCalledTimes(2);
  });

  it('says what a version does not report, and what did not come', () => {
    const problems = [{ part: 'hooks' as const, text: 'This version of the agent does not report its hooks.' }];
    const old = { ...NO_CONFIGURATION, problems };
    expect(noteOf(old, 'hooks', false)).toBe('This version of the agent does not report its hooks.');
    expect(noteOf(old, 'hooks', true)).toContain('This is its last answer.');
    expect(noteOf(old, 'servers', false)).toBe('Not reported yet.');
    expect(noteOf({ ...old, pending: ['servers'] }, 'servers', false)).toBe('Asking the agent…');
    expect(noteOf(old, 'servers', true)).toBeNull();
    expect([placeOf('constructor'), placeOf(''), placeOf('user')]).toEqual([
      'constructor',
      null,
      'You, in all projects',
    ]);
  });

  it('draws every text of a server as plain, bounded text', async () => {
    const name = '<img src=x onerror=alert(1)>\u202egnp';
    const hostile = server(name, { status: 'failed', error: `${name}\nsecond line`, target: name, serverInfo: name });
    const { container, onreconnect, text } = await page({
      ...configuration(NOW),
      servers: [hostile, ...Array.from({ length: 199 }, (_, i) => server(`s${i}`))],
    });
    expect(container.querySelector('img[src]')).toBeNull();
    expect(text()).not.toContain('\u202e');
    expect(text()).toContain('\\u{202E}');
    expect(region(/^MCP servers/).querySelectorAll('.head').length).toBe(50);
    expect(text()).toContain('150 more: show 50');
    const first = container.querySelector<HTMLButtonElement>('.buttons button');
    await fireEvent.click(first as HTMLButtonElement);
    expect(onreconnect).toHaveBeenCalledExactlyOnceWith(name);
  });
});
