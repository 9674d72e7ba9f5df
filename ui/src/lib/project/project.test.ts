import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { Session } from '../bindings/api';
import { FakeHost } from '../../fake/host';
import { limited } from '../../fake/context';
import { listed, stored } from '../../fake/facts';
import { rowId, type Row } from '../session/sessionRows';
import { ProjectState } from './project.svelte';
import { itemsOf } from '../session/rows';

beforeEach(() => localStorage.clear());

/** A window's state, with a record of its calls to the host, in order. */
async function start(scene: string) {
  const host = new FakeHost(scene);
  const asked: string[] = [];
  for (const name of ['connect', 'listen', 'subscribe', 'createSession'] as const) {
    const real = host[name].bind(host) as (...args: unknown[]) => Promise<never>;
    (host as unknown as Record<string, unknown>)[name] = (...args: unknown[]) => {
      asked.push(name);
      return real(...args);
    };
  }
  const project = await ProjectState.start(host);
  return { host, asked, project };
}

describe('at the start', () => {
  it('listens before it asks for the open session', async () => {
    const { asked, project } = await start('conversation');
    expect(asked).toEqual(['connect', 'listen', 'subscribe']);
    expect(project.open?.rows.length).toBeGreaterThan(5);
  });

  it('shows the two sessions that the last window showed side by side', async () => {
    const { host, project } = await start('conversation');
    await project.showBeside('s3');
    const next = await ProjectState.start(host);
    expect([next.open?.id, next.beside.id]).toEqual([project.open?.id, 's3']);
    await vi.waitFor(() => expect(next.beside.state?.loaded).toBe(true));
    await next.closePane(next.beside);
    expect((await ProjectState.start(host)).beside.state).toBeNull();
  });

  it('keeps the session that moved into the first place', async () => {
    const { host, project } = await start('conversation');
    await project.showBeside('s3');
    const beside = project.beside.state;
    await project.closePane(project.pane);
    expect([project.open, project.pane.place, project.beside.state, host.second]).toEqual([
      beside,
      'first',
      null,
      null,
    ]);
    host.session('s3')?.patch({ title: 'It grows in its new place' });
    await vi.waitFor(() => expect(project.open?.session.title).toBe('It grows in its new place'));
  });

  it('shows none beside the open one if that session is gone', async () => {
    const { host } = await start('conversation');
    host.second = 'gone';
    const { beside, problems } = await ProjectState.start(host);
    expect([beside.state, problems.list]).toEqual([null, []]);
  });

  it('asks for none if none is open', async () => {
    const { asked, project } = await start('start');
    expect(asked).toEqual(['connect', 'listen']);
    expect(project.open).toBeNull();
  });
});

describe('what was told and not heard', () => {
  it('is said, and the open session read anew', async () => {
    const { asked, project } = await start('conversation');
    project.miss('the shell is gone');
    expect(asked.at(-1)).toBe('subscribe');
    expect(project.problems.list).toHaveLength(1);
  });
});

describe('a fork', () => {
  it('is opened, and the prompt that it ends before is its draft', async () => {
    const { project } = await start('history');
    const prompt = project.open?.rows.flatMap(itemsOf).find((item) => item.body.type === 'prompt');
    const title = project.open?.session.title;
    await project.pane.fork(prompt?.id ?? '');
    expect(project.open?.session.title).toBe(`${title} (fork)`);
    const draft = project.drafts.of(project.open?.id ?? null, project.project.path);
    expect(draft.text).toBe(prompt?.body.type === 'prompt' ? prompt.body.text : null);
  });
});

describe('a session that another program has open', () => {
  it('is watched until it is closed there', async () => {
    const { host, project } = await start('history-open');
    expect(project.pane.isWatching).toBe(true);
    const id = project.open?.session.agentSessionId ?? '';
    const change = { removed: [], isComplete: true, nUnreadable: 0, problem: null };
    host.changeStored({ changed: [stored(id, 'Import', 1)], ...change });
    expect(project.pane.isWatching).toBe(false);
  });
});

describe('a mark', () => {
  it('is set, shown in every window, and taken away', async () => {
    const { project } = await start('history');
    const id = project.open?.session.agentSessionId ?? '';
    const row = { session: project.open?.session as Session, stored: null };
    await project.markSession(row, 'pinned');
    expect([...project.stored.marks]).toEqual([[id, 'pinned']]);
    await project.markSession(row, null);
    expect(project.stored.marks.size).toBe(0);
  });
});

describe('an export', () => {
  it('says where the file is, and nothing if none was chosen', async () => {
    const { host, project } = await start('history');
    await project.exportSession('html', project.open?.id ?? '');
    expect(project.done?.text).toMatch(/^Exported to .*\.html$/);
    host.exportSession = () => Promise.resolve(null);
    await project.exportSession('markdown', project.open?.id ?? '');
    expect(project.done).toBeNull();
  });
});

describe('sessions', () => {
  it('are not started without asking before the folder is trusted', async () => {
    const { host, project } = await start('held');
    host.startWithoutAsking = () => Promise.reject({ code: 'notTrusted', message: 'Nobody has said.', detail: null });
    await project.pane.startWithoutAsking();
    expect(project.trust.folderShown).toBe(true);
    expect(project.problems.list).toEqual([]);
  });

  it('ask about the folder when writing would start the agent, and call that no failure', async () => {
    const { host, project } = await start('empty');
    await project.creation.create(null);
    host.command = () => Promise.reject({ code: 'notTrusted', message: 'Nobody has said.', detail: null });
    await project.pane.beginWriting();
    expect(project.trust.folderShown).toBe(true);
    expect(project.problems.list).toEqual([]);
  });

  it('keep their place in memory when another is opened', async () => {
    const { project } = await start('conversation');
    const first = project.open;
    await project.openSession('s2');
    await project.openSession('s1');
    expect(project.open).toBe(first);
  });

  it('get the focus in their pane if they are shown beside it, and the next one opens there', async () => {
    const { project } = await start('conversation');
    await project.showBeside('s3');
    const [first, second] = project.panes;
    await project.openSession('s3');
    expect([project.pane, first.id, second.id]).toEqual([second, 's1', 's3']);
    await project.openSession('s2');
    expect([project.pane, first.id, second.id]).toEqual([second, 's1', 's2']);
    await project.openSession('s1');
    expect([project.pane, first.id, second.id]).toEqual([first, 's1', 's2']);
  });

  it('leave the other pane where it is when one is removed', async () => {
    const { project } = await start('conversation');
    await project.showBeside('s3');
    await project.removeSessions(['s1']);
    await expect.poll(() => [project.open?.id, project.beside.id]).toEqual(['s3', null]);
  });

  it('take batches only while they are open', async () => {
    const { host, project } = await start('conversation');
    const first = project.open;
    await project.openSession('s2');
    const rows = first?.rows;
    host.session('s1')?.patch({ title: 'Another title' });
    expect(first?.rows).toBe(rows);
    expect(project.sessions.find(({ id }) => id === 's1')?.title).toBe('Another title');
  });

  it('are not unread when they end beside the open one', async () => {
    const { project } = await start('conversation');
    await project.showBeside('s3');
    project.hear({ type: 'sessionListed', session: listed('s3', 'Upgrade', { type: 'completed' }, 0) });
    expect([...project.unread]).toEqual([]);
    await project.closePane(project.beside);
  });

  it('count as unread when they end out of sight, until they are opened', async () => {
    const { project } = await start('conversation');
    project.hear({ type: 'sessionListed', session: listed('s3', 'Upgrade', { type: 'completed' }, 0) });
    expect([...project.unread]).toEqual(['s3']);
    await project.openSession('s3');
    expect([...project.unread]).toEqual([]);
  });

  it('are shown when the shell says so, with the request to look at', async () => {
    const { project } = await start('conversation');
    project.hear({ type: 'show', sessionId: 's3', requestId: 'q7', itemId: null });
    expect(project.open?.id).toBe('s3');
    expect(project.shownRequest).toBe('q7');
  });

  it('leave the window as soon as they are removed, although their agent still ends, and keep what was written', async () => {
    const { project, host } = await start('conversation');
    const remove = host.removeSession.bind(host);
    // The host answers when the agent has ended.
    host.removeSession = (id) => remove(id).then(() => new Promise(() => {}));
    project.drafts.of('s1', '').text = 'half';
    void project.removeSessions(['s1']);
    await expect.poll(() => project.open).toBeNull();
    expect(project.sessions.some(({ id }) => id === 's1')).toBe(false);
    expect(project.drafts.of('s1', '').text).toBe('');
    expect(project.drafts.of(null, project.project.path).text).toBe('half');
  });

  it('continue when a limit resets: with what is held, else with a prompt of their own', async () => {
    const { project, host } = await start('conversation');
    const session = host.session('s1');
    session?.patch(limited(Date.now()));
    await project.pane.continueAtReset();
    const queue = () => session?.facts.queue.map(({ text, held, sendsAt }) => [text, held, sendsAt !== null]);
    expect(queue()).toEqual([['Continue where you stopped.', true, true]]);
    session?.patch({ queue: [] });
    const prompt = {
      text: 'a',
      nImages: 0,
      nDocuments: 0,
      held: true,
      cutOff: false,
      sendsAt: null,
      delivery: 'afterTurn',
    } as const;
    session?.patch({
      queue: [
        { ...prompt, id: 'a' },
        { ...prompt, id: 'b', text: 'b', cutOff: true },
      ],
    });
    await expect.poll(() => project.open?.session.queue.length).toBe(2);
    await project.pane.continueAtReset();
    expect(queue()).toEqual([
      ['b', true, false],
      ['a', true, true],
    ]);
  });

  it('come back after they were removed, the last one first', async () => {
    const { project, host } = await start('conversation');
    const before = project.sessions.find(({ id }) => id === 's1');
    await project.removeSessions(['s2']);
    await project.removeSessions(['s1']);
    expect(project.open).toBeNull();
    let followed = 0;
    const follow = host.followStored.bind(host);
    host.followStored = () => ((followed += 1), follow());
    await project.restoreSessions();
    expect(project.open?.id).toBe('s1');
    expect(project.sessions.find(({ id }) => id === 's1')).toEqual(before);
    expect(followed).toBe(1);
    expect(project.removals.list.flat().map(({ id }) => id)).toEqual(['s2']);
    await project.restoreSessions();
    expect(project.removals.list).toEqual([]);
  });

  it('that are removed together come back together; what was not removed stays', async () => {
    const { project, host } = await start('conversation');
    const remove = host.removeSession.bind(host);
    host.removeSession = (id) => (id === 's3' ? Promise.reject(new Error('the disk is full')) : remove(id));
    await project.removeSessions(['s1', 's2', 's3']);
    expect(project.sessions.map(({ id }) => id)).toContain('s3');
    expect(project.problems.list.map(({ what }) => what)).toEqual(['The session was not removed']);
    expect(project.removals.list.map((removal) => removal.map(({ id }) => id))).toEqual([['s1', 's2']]);
    await project.restoreSessions();
    expect(project.removals.list).toEqual([]);
    expect(project.open?.id).toBe('s1');
    expect(project.sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(['s1', 's2', 's3']));
  });

  it('that cannot be brought back can be tried again', async () => {
    const { project, host } = await start('conversation');
    await project.removeSessions(['s1']);
    const restore = host.restoreSession.bind(host);
    host.restoreSession = () => Promise.reject(new Error('the disk is full'));
    await project.restoreSessions();
    expect(project.problems.list[0]?.what).toBe('The session was not brought back');
    expect(project.restoring).toBe(false);
    host.restoreSession = restore;
    await project.restoreSessions();
    expect(project.open?.id).toBe('s1');
  });

  it('that are gone are not opened, and that is said', async () => {
    const { project } = await start('conversation');
    await project.openSession('nobody');
    expect(project.open?.id).toBe('s1');
    expect(project.problems.list[0]?.what).toBe('The session was not opened');
  });
});

describe('the sessions in the store of the agent', () => {
  const change = { removed: [], isComplete: true, nUnreadable: 0, problem: null };

  it('are listed with the others, and change with the store', async () => {
    const { host, project } = await start('history');
    const ids = () => project.rows.map(rowId);
    expect(ids()).toEqual(expect.arrayContaining(['s2', 't1', 't44']));
    expect(ids().filter((id) => id === 't2')).toHaveLength(1);
    expect(project.stored.store.isComplete).toBe(true);
    host.changeStored({ ...change, changed: [stored('t99', 'From a terminal', 0)], removed: ['t44'] });
    expect(ids()[0]).toBe('t99');
    expect(ids()).not.toContain('t44');
  });

  it('become a session when they are opened, and start nothing', async () => {
    const { host, project } = await start('history');
    const started: string[] = [];
    host.command = (_id, command) => Promise.resolve(void started.push(command.type));
    const row = project.rows.find((one) => rowId(one) === 't3');
    await project.openRow(row as Row);
    expect(project.open?.session.title).toBe('Sketch the settlement report');
    expect(project.pane.stored?.agentSessionId).toBe('t3');
    expect(project.rows.filter((one) => rowId(one) === 't3')).toHaveLength(1);
    await project.pane.beginWriting();
    expect(started).toEqual([]);
  });

  it('start another agent, which alone has the messages, and show its trust page if it may not start', async () => {
    const { host, project } = await start('history');
    const theirs = ['t3', 't44'].map((id) => stored(id, `Of another agent: ${id}`, 0, { agent: 'Qwen Code' }));
    host.changeStored({ ...change, changed: theirs });
    const rowOf = (id: string) => project.rows.find((one) => rowId(one) === id) as Row;
    const started: string[] = [];
    host.command = (id, command) => Promise.resolve(void started.push(`${id} ${command.type}`));
    await project.openRow(rowOf('t3'));
    expect(started).toEqual(['t3 start']);
    await project.openRow(rowOf('t3'));
    expect(started).toEqual(['t3 start']);

    const refused = { code: 'notTrusted', message: 'Qwen Code starts only in a folder that you trust.', detail: null };
    host.command = () => Promise.reject(refused as unknown as Error);
    await project.openRow(rowOf('t44'));
    expect(project.trust.folderShown).toBe(true);
    expect(project.open?.session.agentSessionId).toBe('t44');
    expect(project.problems.list).toEqual([]);
  });

  it('can be looked at before the folder is trusted', async () => {
    const { host, project } = await start('history');
    project.trust.folderShown = true;
    await project.openRow(project.rows.find((one) => rowId(one) === 't3') as Row);
    expect(project.trust.folderShown).toBe(false);
    expect(host.session('t3')?.facts.alive).toBe(false);
  });

  it('are unread when a turn ended in another program', async () => {
    const { host, project } = await start('history');
    host.changeStored({ ...change, changed: [stored('t3', 'Sketch', 0), stored('t98', 'New', 0)] });
    expect([...project.unread]).toEqual(['t3']);
    await project.openRow(project.rows.find((one) => rowId(one) === 't3') as Row);
    expect([...project.unread]).toEqual([]);
  });

  it('are unread at the next start if a turn ended meanwhile in another program', async () => {
    localStorage.clear();
    const first = await start('history');
    expect([...first.project.unread]).toEqual([]);
    const { host, project } = await start('history');
    expect([...project.unread]).toEqual([]);
    const later = stored('t3', 'Sketch', 0, { changedAt: Date.now() + 60_000 });
    const cut = stored('t97', 'Cut', 0, { changedAt: Date.now() + 60_000, state: { type: 'interrupted' } });
    host.changeStored({ ...change, changed: [stored('t96', 'Long ago', 9_000), later, cut] });
    expect([...project.unread]).toEqual(['t3']);
  });

  it('are unread when another program continued a session of Deskbell', async () => {
    const { host, project } = await start('history');
    const own = { ...(project.open?.session as Session), id: 'mine', agentSessionId: 'a1', alive: false, pid: null };
    project.hear({ type: 'sessionListed', session: own });
    const live = { pid: 4_712, activity: 'open' as const };
    const at = (minutes: number, rest = {}) => [stored('a1', 'Mine', minutes, rest)];
    host.changeStored({ ...change, changed: at(9) });
    host.changeStored({ ...change, changed: at(8) });
    expect([...project.unread]).toEqual([]);
    host.changeStored({ ...change, changed: at(7, { live }) });
    expect([...project.unread]).toEqual(['mine']);
  });

  it('that are gone are not opened, and that is said', async () => {
    const { project } = await start('history');
    await project.openRow({ session: null, stored: stored('gone', 'Gone', 1) });
    expect(project.problems.list[0]?.what).toBe('The session was not opened');
  });
});

describe('failures', () => {
  it('without an agent lead to the page that says so', async () => {
    const { project } = await start('missing');
    expect(await project.creation.create(null)).toBeNull();
    expect(project.creation.missing?.code).toBe('agentNotFound');
    expect((await project.creation.create('demo'))?.session.agent).toBe('demo');
    expect(project.creation.missing).toBeNull();
  });

  it('are reported, once for each', async () => {
    const { project } = await start('conversation');
    const wrong = { type: 'setModel', model: 'none' } as const;
    await project.pane.command(wrong, 'The model was not changed');
    await project.pane.command(wrong, 'The model was not changed');
    expect(project.problems.list).toHaveLength(1);
    project.problems.dismiss(project.problems.list[0]?.id ?? 0);
    expect(project.problems.list).toEqual([]);
  });

  it('to keep a setting change nothing', async () => {
    const { host, project } = await start('conversation');
    host.setSetting = () => Promise.reject(new Error('disk full'));
    await project.app.setSetting('theme', 'dark');
    expect(project.settings.settings.theme).toBe('system');
    expect(project.problems.list[0]?.error.message).toBe('disk full');
  });
});
