import { fireEvent, screen, within } from '@testing-library/svelte';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

import { openApp, promptBox } from '../../../test/app';
import { stored } from '../../../fake/facts';
import { commandRequest, text } from '../../../fake/script';

beforeEach(() => localStorage.clear());

const first = () => within(screen.getByRole('main'));
const pane = () => within(screen.getByRole('region', { name: /^Second session: / }));

/** Gives the last prompt to the demo agent over ACP, by the palette and the dialog. */
async function askAnother() {
  const app = await openApp();
  const command = vi.spyOn(app.host, 'command');
  await app.user.keyboard('{Control>}k{/Control}');
  await app.user.keyboard('Ask another agent');
  await app.user.keyboard('{Enter}');
  await app.user.click(await screen.findByRole('button', { name: 'Demo agent (ACP)' }));
  await expect.poll(() => screen.queryByRole('region', { name: /^Second session: / })).not.toBeNull();
  const sent = () =>
    command.mock.calls.flatMap(([id, one]) => (one.type === 'prompt' ? [[id, one.text] as const] : []));
  await expect.poll(sent).toHaveLength(1);
  return { ...app, command, sent };
}

it('gives the same prompt to another agent, with the first session beside it', async () => {
  const { host, sent } = await askAnother();
  const first = host.session('s1');
  const prompt = first?.items.findLast(({ body }) => body.type === 'prompt')?.body;
  expect(prompt?.type === 'prompt' && sent()).toEqual([['s-new-1', prompt?.type === 'prompt' ? prompt.text : '']]);
  expect(screen.getByRole('region', { name: `Second session: ${first?.facts.title}` })).not.toBeNull();
});

it('shows both as they grow, and answers each', async () => {
  const { host, user, command, sent } = await askAnother();
  host.session('s1')?.add(text('It grows beside.'));
  expect(await pane().findByText('It grows beside.')).not.toBeNull();
  host.session('s1')?.patch({ requests: [commandRequest('q9', 'make harbour')] });
  expect(await pane().findByRole('group', { name: 'Permission request' })).not.toBeNull();
  await user.click(pane().getByRole('textbox', { name: 'Prompt of the second session' }));
  await user.keyboard('And you?{Enter}');
  await expect.poll(() => sent().at(-1)).toEqual(['s1', 'And you?']);
  await user.click(promptBox());
  await user.keyboard('Go on{Enter}');
  await expect.poll(() => sent().at(-1)).toEqual(['s-new-1', 'Go on']);
  expect(command.mock.calls.filter(([id, { type }]) => id === 's1' && type === 'decide')).toEqual([]);
});

/** The sessions of the two panes, by the places of those. */
const shown = () => ['first', 'second'].map((place) => headerIn(place)?.dataset['session']);
const headerIn = (place: string) => document.querySelector<HTMLElement>(`[data-pane="${place}"] header`);

it('gets the focus by mouse and by key, and keeps its place', async () => {
  const { host, user } = await askAnother();
  const box = () => pane().getByRole('textbox', { name: 'Prompt of the second session' });
  const title = host.session('s1')?.facts.title;
  await user.keyboard('{F8}');
  await expect.poll(() => document.activeElement).toBe(box());
  await expect.poll(() => document.title).toContain(title);
  expect(shown()).toEqual(['s-new-1', 's1']);
  await user.keyboard('{F8}');
  await expect.poll(() => document.activeElement).toBe(promptBox());
  expect(document.title).not.toContain(title);
  await user.click(box());
  await expect.poll(() => document.title).toContain(title);
});

it('is closed by its button or by key, and the other one stays', async () => {
  const { user } = await askAnother();
  await user.click(pane().getByRole('button', { name: 'Close this side' }));
  await expect.poll(() => screen.queryByRole('region', { name: /^Second session: / })).toBeNull();
  expect([document.activeElement, ...shown()]).toEqual([promptBox(), 's-new-1', undefined]);
  expect(screen.queryByRole('button', { name: 'Close this side' })).toBeNull();
});

it('moves into the place of the first one when that is closed', async () => {
  const { user } = await askAnother();
  await user.type(pane().getByRole('textbox', { name: 'Prompt of the second session' }), 'half a thought');
  await user.click(first().getByRole('button', { name: 'Close this side' }));
  await expect.poll(() => screen.queryByRole('region', { name: /^Second session: / })).toBeNull();
  expect([...shown(), promptBox().value]).toEqual(['s1', undefined, 'half a thought']);
});

it('has the same actions as the first one, on its own session', async () => {
  const { host, user, command } = await askAnother();
  const copy = vi.spyOn(host.answers, 'copy');
  const prompt = host.session('s1')?.items.findLast(({ body }) => body.type === 'prompt');
  const row = screen.getByRole('region', { name: /^Second session: / }).querySelector(`[data-item="${prompt?.id}"]`);
  expect(await fireEvent.contextMenu(row as Element)).toBe(false);
  const items = () => screen.getAllByRole('menuitem').map(({ textContent }) => textContent?.trim());
  expect(items()).toEqual(expect.arrayContaining(['Fork before this prompt', 'Ask another agent…', 'Rewind to here…']));
  await user.click(screen.getByRole('menuitem', { name: 'Copy message' }));
  await expect
    .poll(() => copy.mock.calls)
    .toEqual([['s1', { type: 'copy', copy: { type: 'message', itemId: prompt?.id } }]]);
  // The menu moved the focus to its pane: a key acts there.
  await user.keyboard('{Control>}{Shift>}c{/Shift}{/Control}');
  await expect.poll(() => copy.mock.calls.at(-1)).toEqual(['s1', { type: 'copy', copy: { type: 'conversation' } }]);
  await user.click(pane().getByRole('button', { name: 'More' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Rename' }));
  await user.keyboard('{Control>}a{/Control}Harbour{Enter}');
  await expect.poll(() => command.mock.calls.at(-1)).toEqual(['s1', { type: 'rename', title: 'Harbour' }]);
});

it('opens a session of the list in the pane with the focus', async () => {
  const { host, user } = await askAnother();
  await user.click(pane().getByRole('textbox', { name: 'Prompt of the second session' }));
  const title = host.session('s3')?.facts.title ?? '';
  await user.click(screen.getByRole('button', { name: new RegExp(title, 'u') }));
  await expect.poll(shown).toEqual(['s-new-1', 's3']);
});

it('opens the login for /login, and sends it to no agent', async () => {
  const { user, sent } = await askAnother();
  await user.click(pane().getByRole('textbox', { name: 'Prompt of the second session' }));
  await user.keyboard('/login{Enter}');
  expect(await screen.findByRole('dialog', { name: /Log in/u, hidden: true })).not.toBeNull();
  expect(sent()).toHaveLength(1);
});

it('takes what is dropped on it, and leaves the draft of the open session alone', async () => {
  const { host } = await askAnother();
  const region = screen.getByRole('region', { name: /^Second session: / });
  // jsdom lays out nothing.
  Object.assign(document, { elementFromPoint: (x: number) => (x > window.innerWidth / 2 ? region : document.body) });
  onTestFinished(() => void Reflect.deleteProperty(document, 'elementFromPoint'));
  const drop = (path: string, x: number) =>
    host.start.emit({ type: 'dropped', dropped: [{ type: 'file', path }], at: { x, y: 0.5 } });
  drop('second.rs', 0.9);
  drop('open.rs', 0.1);
  const box = pane().getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt of the second session' });
  await expect.poll(() => [box.value, promptBox().value]).toEqual(['@second.rs ', '@open.rs ']);
});

it('has no prompt box for a conversation that another program has open', async () => {
  const { host } = await askAnother();
  const agentSessionId = 'elsewhere';
  host.session('s1')?.patch({ agentSessionId, alive: false, pid: null, status: { type: 'idle' } });
  const live = { pid: 4_711, activity: 'open' } as const;
  const changed = [stored(agentSessionId, 'Elsewhere', 1, { live })];
  host.changeStored({ changed, removed: [], isComplete: true, nUnreadable: 0, problem: null });
  const box = () => pane().queryByRole('textbox', { name: 'Prompt of the second session' });
  await expect.poll(box).toBeNull();
  // The other one is not open elsewhere.
  expect(promptBox()).not.toBeNull();
});

it('is closed when its session is removed', async () => {
  const { host } = await askAnother();
  await host.removeSession('s1');
  await expect.poll(() => screen.queryByRole('region', { name: /^Second session: / })).toBeNull();
});

/** Opens the dialog for the last prompt, with the mark that it is for a worktree. */
async function askInWorktree() {
  const app = await openApp();
  await app.user.keyboard('{Control>}k{/Control}Ask another agent{Enter}');
  await app.user.click(await screen.findByRole('checkbox', { name: 'In a worktree of its own', hidden: true }));
  return app;
}

it.each([
  ['Demo agent (ACP)', { type: 'other', id: 'demo-acp' }],
  ['Claude Code', { type: 'claude' }],
] as const)('gives the prompt to %s in a worktree, where it waits', async (name, asked) => {
  const { host, user } = await askInWorktree();
  const command = vi.spyOn(host, 'command');
  const before = host.session('s1')?.items.findLast(({ body }) => body.type === 'prompt')?.body;
  await user.click(screen.getByRole('button', { name, hidden: true }));
  await screen.findByText(/The prompt waits there/u);
  await user.click(await screen.findByRole('button', { name: 'Create and open', hidden: true }));
  await expect.poll(() => host.repository.drafts).toHaveLength(1);
  expect(host.repository.drafts).toEqual([{ text: before?.type === 'prompt' && before.text, asked }]);
  expect(host.repository.opened).toHaveLength(1);
  // Nothing changes here: no session, and nothing is sent.
  expect(screen.queryByRole('region', { name: /^Second session: / })).toBeNull();
  expect(command.mock.calls.filter(([, { type }]) => type === 'prompt')).toEqual([]);
});

it('is closed by its button where a worktree was wanted', async () => {
  const { user } = await askInWorktree();
  await user.click(screen.getAllByRole('button', { name: 'Close', hidden: true }).at(-1) as HTMLElement);
  expect(screen.queryByText('Ask another agent')).toBeNull();
});

it('takes a prompt for an agent as the draft of its new session', async () => {
  const { host } = await openApp();
  const command = vi.spyOn(host, 'command');
  host.nameDraft('Round half to even.', { type: 'other', id: 'demo-acp' });
  await expect.poll(() => promptBox().value).toBe('Round half to even.');
  expect(screen.getByRole('heading', { level: 1, name: 'New session' })).not.toBeNull();
  expect(command.mock.calls.filter(([, { type }]) => type === 'prompt')).toEqual([]);
});

it('keeps a prompt whose agent is gone for the next new session', async () => {
  const { host, user } = await openApp();
  host.nameDraft('Round half to even.', { type: 'other', id: 'gone' });
  await screen.findByText(/No session was started/u);
  await user.keyboard('{Control>}n{/Control}');
  await expect.poll(() => promptBox().value).toBe('Round half to even.');
});
