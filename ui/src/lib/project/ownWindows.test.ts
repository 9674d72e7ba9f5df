// Sessions in windows of their own, as the window of the project and as that of the session.

import { fireEvent, render, screen } from '@testing-library/svelte';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../test/parts';
import { Drafts } from '../session/drafts.svelte';
import { FakeHost } from '../../fake/host';
import { ProjectState } from './project.svelte';

function scene(): FakeHost {
  const host = new FakeHost('conversation');
  onTestFinished(() => host.close());
  return host;
}

const started = (host: FakeHost) => ProjectState.start(host, new Drafts());

beforeEach(() => localStorage.clear());

it('a session that gets its own window leaves the window of the project, and comes back', async () => {
  const host = scene();
  const project = await started(host);
  const id = project.open?.id ?? '';
  const next = project.sessions.find((session) => session.id !== id)?.id ?? '';
  await project.showBeside(next);
  await project.place(id, true);
  expect([...project.ownWindows]).toEqual([id]);
  expect(project.panes.map((pane) => pane.id)).toEqual([next, null]);

  await project.openSession(id);
  await project.showBeside(id);
  expect(host.broughtUp).toEqual([id, id]);
  expect(project.paneOf(id)).toBeNull();

  await project.place(id, false);
  await project.openSession(id);
  expect(project.open?.id).toBe(id);
});

it('what was typed before and after the move is in the prompt box', async () => {
  const host = scene();
  const project = await started(host);
  const id = project.open?.id ?? '';
  project.pane.draft.text = 'Half a';
  await project.place(id, true);

  host.ownSession = id;
  const own = await started(host);
  expect(own.open?.id).toBe(id);
  expect(own.pane.draft.text).toBe('Half a');
  own.pane.draft.text = 'Half a thought';

  host.ownSession = null;
  await host.listen('window-fake', (event) => project.hear(event));
  await project.place(id, false);
  await project.openSession(id);
  expect(project.pane.draft.text).toBe('Half a thought');
});

it('the window of a session shows no other one', async () => {
  const host = scene();
  const [first] = (await started(host)).sessions;
  const id = first?.id ?? '';
  host.ownSession = id;
  host.ownWindows.add(id);
  const own = await started(host);
  const other = own.sessions.find((session) => session.id !== id)?.id ?? '';
  await own.openSession(id);
  await own.openSession(other);
  await own.showBeside(other);
  expect(own.panes.map((pane) => pane.id)).toEqual([id, null]);
  expect(host.broughtUp).toEqual([other, other]);
});

it('the window of a session has no list, and says where the others are', async () => {
  const host = scene();
  const id = [...(await host.connect()).project.sessions][0]?.id ?? '';
  host.ownSession = id;
  host.ownWindows.add(id);
  render(App, { host });
  await screen.findByRole('main');
  expect(screen.queryByRole('navigation', { name: 'Sessions' })).toBeNull();
  expect(screen.queryByRole('button', { name: /^Sessions/u })).toBeNull();
  const created = vi.spyOn(host, 'createSession');
  await fireEvent.keyDown(document.body, { key: 'n', code: 'KeyN', ctrlKey: true });
  expect(created).not.toHaveBeenCalled();
  await screen.findByText('This window shows one session. The others are in the project’s window.');
});

it('a row that is dragged out of the window gets a window, and is not opened by that', async () => {
  const host = scene();
  render(App, { host });
  const list = await screen.findByRole('navigation', { name: 'Sessions' });
  const row = list.querySelectorAll<HTMLElement>('button.session')[1];
  const id = row?.closest<HTMLElement>('[data-session]')?.dataset['session'];
  if (row === undefined) throw new Error('The list has no second row.');
  const placed = vi.spyOn(host, 'placeSession');
  await fireEvent.pointerDown(row, { pointerId: 1, button: 0 });
  await fireEvent.pointerMove(row, { pointerId: 1, clientX: 40, clientY: 40 });
  expect(row.hasAttribute('data-dragged-out')).toBe(false);
  await fireEvent.pointerMove(row, { pointerId: 1, clientX: -40, clientY: 40 });
  expect(row.hasAttribute('data-dragged-out')).toBe(true);
  await fireEvent.pointerUp(row, { pointerId: 1, clientX: -40, clientY: 40 });
  await fireEvent.click(row);
  expect(placed.mock.calls).toEqual([[id, true]]);
  expect(host.broughtUp).toEqual([]);
  await screen.findByTitle('In a window of its own');
});
