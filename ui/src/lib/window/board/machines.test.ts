import { screen, within } from '@testing-library/svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { machinesOf } from '../../../fake/board';
import { START } from '../../../fake/facts';
import { QUESTIONS, SSH_HOSTS } from '../../../fake/far';
import { openBoard } from '../../../test/board';
import { linkWord, whatRuns } from './machineWords';

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('the other machines', () => {
  const section = () => within(screen.getByRole('region', { name: 'Other machines' }));
  const ask = (machine: string) => section().getByRole('button', { name: `List sessions on ${machine}` });

  const machines = async () => {
    const opened = await openBoard('board-machines');
    await opened.user.click(section().getByRole('button', { name: 'Other machines' }));
    return opened;
  };

  it('are one line at the foot until the user opens it', async () => {
    const { user } = await openBoard('board-machines');
    const links = section()
      .getAllByRole('listitem')
      .map((item) => item.textContent.replace(/\s+/gu, ' ').trim());
    expect(links[0]).toBe('box Connected · 1 session');
    expect(links[3]).toBe('down Not connected');
    expect(section().queryByRole('button', { name: /^List sessions/ })).toBeNull();
    const all = section().getByRole('button', { name: 'Other machines' });
    await user.click(all);
    expect(all.ariaExpanded).toBe('true');
    expect(ask('down')).not.toBeNull();
    await user.click(all);
    expect(section().queryByRole('list', { name: 'Machines' })).toBeNull();
  });

  it('are there with the state of each link, and are asked only if the user wants it', async () => {
    const { host } = await machines();
    const asked = vi.spyOn(host, 'machineSessions');
    expect(screen.getByRole('region', { name: 'Other machines' }).textContent).toMatch(
      /connects to no machine\s+by\s+itself/,
    );
    expect(machinesOf('board-machines').map((machine) => linkWord(machine, START))).toEqual([
      'Connected',
      expect.stringMatching(/^Not connected, last used /),
      'Connecting…',
      'Not connected',
      'Runs Deskbell 0.0.9, which this version cannot talk to',
      'Reconnecting in 8 s, last seen 12 min ago',
    ]);
    const never = {
      name: 'x',
      link: { type: 'waiting', attempt: 2, at: START + 1000 },
      seenAt: null,
      usedAt: null,
    } as const;
    expect(linkWord(never, START)).toBe('Not reached, next attempt in 1 s');
    expect(screen.getAllByText('on box')).toHaveLength(1);
    // What runs where it is connected is in the list of sessions.
    expect(
      section()
        .getAllByRole('button', { name: /^List sessions on/ })
        .map((button) => button.ariaLabel),
    ).toEqual(['build-server', 'down', 'old-box', 'shop.example'].map((name) => `List sessions on ${name}`));
    expect(asked).not.toHaveBeenCalled();
  });

  it('list what runs there, and open one of the sessions by keyboard', async () => {
    const { host, user } = await machines();
    ask('build-server').focus();
    await user.keyboard('{Enter}');
    await section().findByText('Asked 0 s ago: 2 sessions run or wait there, 3 others do not.');
    expect(document.activeElement).toBe(ask('build-server'));
    const list = within(section().getByRole('list', { name: 'Sessions on build-server' }));
    const rows = list.getAllByRole('button').map((row) => row.textContent.replace(/\s+/g, ' ').trim());
    expect(rows[0]).toMatch(/^Needs input Move the importer.*Wants to run a command.*ledger.*\$1\.42 · 311 MiB/);
    expect(rows[1]).toMatch(/^Working.*Running cargo test.*902 MiB/);
    await user.keyboard('{Tab}{Enter}');
    expect(host.start.done).toEqual(['open there1 in build-server:/home/ines/code/ledger']);
  });

  it('show what another version or another program says as text', async () => {
    const { user } = await machines();
    await user.click(ask('old-box'));
    await section().findByText('Asked 0 s ago: 4 sessions run or wait there. 1 of them cannot be shown here.');
    const list = within(section().getByRole('list', { name: 'Sessions on old-box' }));
    const rows = list.getAllByRole('button').map((row) => row.textContent.replace(/\s+/g, ' ').trim());
    expect(rows[2]).toMatch(/^Unknown Night\\u\{202E\}\\u\{200B\}/);
    section().getByText('server 0.0.8: it does not answer');
  });

  it('are stopped after a question, and are asked again', async () => {
    const { host, user } = await machines();
    await user.click(ask('build-server'));
    const stop = () => section().findByRole('button', { name: 'Stop all on build-server…' });
    await user.click(await stop());
    const question = within(section().getByRole('alertdialog', { name: 'Stop all on build-server' }));
    expect(document.activeElement).toBe(question.getByRole('button', { name: 'Cancel' }));
    await user.keyboard('{Escape}');
    expect(section().queryByRole('alertdialog')).toBeNull();
    await vi.waitFor(() => expect(document.activeElement).toBe(ask('build-server')));
    expect(host.start.done).toEqual([]);
    const listed = vi.spyOn(host, 'machineSessions');
    await user.click(await stop());
    await user.click(section().getByRole('button', { name: 'Stop all' }));
    await vi.waitFor(() => expect(listed).toHaveBeenCalledWith('build-server'));
    expect(host.start.done).toEqual(['stop build-server']);
  });

  it('say why they cannot be reached, and are asked once at a time', async () => {
    const { host, user } = await machines();
    await user.click(ask('down'));
    const said = await section().findByRole('alert');
    expect(said.textContent).toMatch(/box cannot be reached\..*Permission denied/s);
    const listed = vi.spyOn(host, 'machineSessions').mockReturnValue(new Promise(() => {}));
    await user.click(ask('down'));
    await section().findByText(/^Connecting to down\./);
    expect(section().queryByRole('alert')).toBeNull();
    await user.click(ask('down'));
    expect(listed).toHaveBeenCalledTimes(1);
    expect(ask('down').ariaDisabled).toBe('true');
  });

  it('ask through ssh in this window, and the keys of the list leave the answer alone', async () => {
    const { host, user } = await machines();
    host.askForConnection(QUESTIONS.password);
    const question = within(await screen.findByRole('alertdialog', { name: 'Connect to box' }));
    const field = question.getByLabelText('Answer');
    await user.type(field, 'secret{Home}{ArrowUp}');
    expect(document.activeElement).toBe(field);
    await user.keyboard('{Enter}');
    expect(host.answered).toEqual([['q1', 'secret']]);
    expect(screen.queryByRole('alertdialog')).toBeNull();
  });

  it('can be one that is not listed, typed or chosen, also on a board without machines', async () => {
    const { host, user } = await openBoard('board');
    const another = () => screen.getByRole('button', { name: 'Add a machine…' });
    expect(section().queryByRole('list')).toBeNull();
    await user.click(another());
    const form = () => within(screen.getByRole('form', { name: 'List sessions on another machine' }));
    expect(document.activeElement).toBe(form().getByLabelText('Machine'));
    await user.keyboard('{Escape}');
    expect(section().queryByRole('list')).toBeNull();
    await vi.waitFor(() => expect(document.activeElement).toBe(another()));

    const listed = vi.spyOn(host, 'machineSessions');
    await user.keyboard('{Enter}');
    await user.keyboard(' ssh:build-server {Enter}');
    expect(listed.mock.calls).toEqual([['build-server']]);
    await section().findByText(/^Asked .*: 2 sessions run or wait there/);
    expect(document.activeElement).toBe(ask('build-server'));
    expect(screen.queryByRole('form')).toBeNull();

    // One that does not answer says why, and can be asked again.
    await user.click(another());
    await user.click(await form().findByRole('button', { name: SSH_HOSTS[0] as string }));
    await user.click(another());
    await user.type(form().getByLabelText('Machine'), 'down{Enter}');
    await section().findByRole('alert');
    expect(ask('down').ariaBusy).toBeNull();
    expect(listed.mock.calls).toEqual([['build-server'], [SSH_HOSTS[0]], ['down']]);
  });

  it('say how many sessions there are', () => {
    const answer = { at: START, sessions: [], nIdle: 0, nMore: 0, problem: null };
    expect(whatRuns(answer, START + 5_000)).toBe('Asked 5 s ago: nothing runs or waits there.');
    expect(whatRuns({ ...answer, nIdle: 1 }, START)).toBe(
      'Asked 0 s ago: nothing runs or waits there, 1 other does not.',
    );
    expect(whatRuns({ ...answer, nMore: 1 }, START)).toMatch(
      /^Asked 0 s ago: 1 session runs or waits there\. 1 of them/,
    );
  });
});
