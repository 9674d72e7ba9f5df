import { screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import { draw } from '../../test/draw';
import { at, prompt, session, snapshot } from '../../test/make';
import { SessionState } from '../state/session.svelte';
import Conversation from './Conversation.svelte';

const rows = (n: number) => Array.from({ length: n }, (_, i) => at(i, prompt(`p${i}`)));

/** A conversation of which only the end is read, and then all of it. */
async function conversation() {
  const open = new SessionState(session());
  open.load({ ...snapshot(0, rows(2)), isPartial: true });
  const nothing = () => {};
  await draw(Conversation, { open, hasSide: false, ontogglesessions: nothing, ontoggleside: nothing });
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
