import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import type { Body } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { at, prompt, session, snapshot } from '../../../test/make';
import { SessionState } from '../session.svelte';
import SessionPane from './SessionPane.svelte';

const rows = (n: number) => Array.from({ length: n }, (_, i) => at(i, prompt(`p${i}`)));

/** A conversation that is loaded partly (its end) at first, then completely. */
async function conversation() {
  const open = new SessionState(session());
  open.load({ ...snapshot(0, rows(2)), isPartial: true });
  const nothing = () => {};
  await draw(SessionPane, { open, hasSide: false, ontogglesessions: nothing, ontoggleside: nothing });
  const readAll = async () => {
    open.load(snapshot(1, rows(10)));
    await tick();
  };
  return { log: screen.getByRole('log'), readAll };
}

it('keeps the keyboard in the log when the rest of it is read', async () => {
  const { log, readAll } = await conversation();
  log.focus();
  await readAll();
  expect(screen.getByRole('log')).not.toBe(log);
  expect(document.activeElement).toBe(screen.getByRole('log'));
});

it('takes the keyboard from nothing else', async () => {
  const { readAll } = await conversation();
  const composer = screen.getByRole('textbox', { name: 'Prompt' });
  composer.focus();
  await readAll();
  expect(document.activeElement).toBe(composer);
});

it('offers a prompt that was cut off once, in the queue', async () => {
  const open = new SessionState(session());
  const queue = [
    {
      id: 'p0',
      text: 'p0',
      nImages: 0,
      nDocuments: 0,
      held: true,
      cutOff: true,
      sendsAt: null,
      delivery: 'afterTurn' as const,
    },
  ];
  open.load(snapshot(0, [at(0, prompt('p0', 'held'))], { queue }));
  const nothing = () => {};
  const props = { open, hasSide: false, ontogglesessions: nothing, ontoggleside: nothing };
  const { project } = await draw(SessionPane, props);
  project.pane.state = open;
  await tick();
  expect(screen.getByRole('region', { name: 'Your prompt' }).textContent).toContain('Not answered');
  const buttons = screen.getAllByRole('button', { name: 'Send again' });
  expect(buttons).toHaveLength(1);
  expect(buttons[0]?.closest('[data-part="queue"]')).not.toBeNull();
});

it('shows what was attached to a prompt by name, and opens it', async () => {
  const open = new SessionState(session());
  const nothing = () => {};
  const { project } = await draw(SessionPane, {
    open,
    hasSide: false,
    ontogglesessions: nothing,
    ontoggleside: nothing,
  });
  const files = [
    { name: 'Pasted text', mediaType: 'text/plain', data: 'one\ntwo\n' },
    { name: 'shot.png', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    { name: 'report.pdf', mediaType: 'application/pdf', data: 'JVBERg==' },
  ];
  project.pane.state = open;
  project.sentFiles.keep(open.id, 'Look at these', files, 0);
  const body: Body = { type: 'prompt', text: 'Look at these', nImages: 1, nDocuments: 2, state: 'done' };
  open.load(snapshot(0, [at(0, { ...prompt('p'), body })]));
  await tick();
  const list = screen.getByRole('list', { name: 'Attachments' });
  expect(
    within(list)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent.replaceAll(/\s+/g, ' ').trim()),
  ).toEqual(['Pasted text 2 lines · “one”', 'shot.png 1 kB', 'report.pdf PDF · 1 kB']);
  const user = userEvent.setup();
  await user.click(within(list).getByRole('button', { name: /^Pasted text/ }));
  const dialog = screen.getByRole('dialog', { name: 'Pasted text · 2 lines' });
  expect(within(dialog).queryByRole('button', { name: 'Remove' })).toBeNull();
});

it('opens a terminal with the login of another agent, from the note and from /login', async () => {
  const login = { words: ['codex', 'login'], needed: true };
  const open = new SessionState({ ...session(), agent: 'acp', agentName: 'Codex', login });
  const nothing = () => {};
  const props = { open, hasSide: false, ontogglesessions: nothing, ontoggleside: nothing };
  const user = userEvent.setup();
  const { project, host } = await draw(SessionPane, props);
  project.pane.state = open;
  await tick();
  const note = screen.getByRole('note', { name: 'Login needed' });
  expect(note.textContent).toContain('codex login');
  await user.click(within(note).getByRole('button', { name: 'Open terminal' }));
  expect(host.outside).toEqual([`login ${open.id}`]);
  await user.type(screen.getByRole('textbox', { name: 'Prompt' }), '/login{Escape}{Enter}');
  expect(project.agentCheck.loginShown).toBe(true);
  expect(project.agentCheck.loginOf?.id).toBe(open.id);
});
