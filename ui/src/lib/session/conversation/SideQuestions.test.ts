import { screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, expect, it, vi } from 'vitest';

import type { Command } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { CAPABILITIES, emptySession } from '../../../fake/facts';
import type { FakeSession } from '../../../fake/session';
import { openHost } from '../../../test/app';
import { asideIn, noSideQuestions } from '../sideQuestions';

beforeEach(() => localStorage.clear());

const panel = async () => within(await screen.findByRole('region', { name: 'Side questions' }));
const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Side question' });
const prompt = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });

async function opened() {
  const host = new FakeHost('normal');
  const commands = vi.spyOn(host, 'command');
  const { user } = await openHost(host);
  const session = host.session('s1') as FakeSession;
  const sent = () => commands.mock.calls.map(([, command]: [string, Command]) => command.type);
  return { host, user, session, sent };
}

it('asks by key, draws the answer as a document, and leaves the conversation as it is', async () => {
  const { user, session, sent } = await opened();
  const n = session.items.length;
  await user.keyboard('{Alt>}s{/Alt}');
  const side = await panel();
  await vi.waitFor(() => expect(document.activeElement).toBe(field()));
  side.getByText(/Each question costs one small call/u);
  await user.keyboard('{Enter}');
  expect(sent()).not.toContain('askSide');
  await user.keyboard('Where is it rounded?{Shift>}{Enter}{/Shift}And how?{Enter}');
  await side.findByText('half to even');
  expect(side.getByText(/^Where is it rounded/u).textContent).toBe('Where is it rounded?\nAnd how?');
  expect([field().value, document.activeElement]).toEqual(['', field()]);
  expect(session.items.length).toBe(n);
  side.getByRole('button', { name: 'Copy the answer' });
  await user.keyboard('Why?{Enter}');
  await vi.waitFor(() => expect(side.getAllByText('half to even')).toHaveLength(2));
  // The answers and the unsent text are there again.
  await user.keyboard('not yet{Escape}');
  expect(screen.queryByRole('region', { name: 'Side questions' })).toBeNull();
  await vi.waitFor(() => expect(document.activeElement).toBe(prompt()));
  await user.keyboard('{Alt>}s{/Alt}');
  expect((await panel()).getAllByText('half to even')).toHaveLength(2);
});

it('cancels a question, says why one failed, and writes it again', async () => {
  const { user, session } = await opened();
  await user.keyboard('{Alt>}s{/Alt}');
  const side = await panel();
  await vi.waitFor(() => expect(document.activeElement).toBe(field()));
  await user.keyboard('wait for me{Enter}');
  await side.findByText('Asking…');
  const [one] = session.facts.sideQuestions;
  if (one === undefined) throw new Error('it was asked');
  const retry = { ...one, outcome: { type: 'waiting' as const, retry: { attempt: 2, most: 10 } } };
  session.patch({ sideQuestions: [retry] });
  await side.findByText('The call of the model failed. Attempt 2 of 10…');
  await user.click(side.getByRole('button', { name: 'Cancel' }));
  await side.findByText('Cancelled.');
  expect(document.activeElement).toBe(field());
  session.patch({ sideQuestions: [{ ...one, outcome: { type: 'failed', message: 'API error: 529' } }] });
  await side.findByText('API error: 529');
  await user.click(side.getByRole('button', { name: 'Write it again' }));
  expect(field().value).toBe('wait for me');
});

it('opens by /btw with its text, and sends nothing', async () => {
  const { user, sent } = await opened();
  prompt().focus();
  await user.keyboard('/btw where is it?');
  await user.keyboard('{Escape}{Enter}');
  await panel();
  expect(field().value).toBe('where is it?');
  expect(sent()).not.toContain('prompt');
  await vi.waitFor(() => expect(prompt().value).toBe(''));
});

it('says why an agent is not asked', async () => {
  const { user, session, sent } = await opened();
  await user.keyboard('{Alt>}s{/Alt}');
  const side = await panel();
  session.patch({ capabilities: { ...CAPABILITIES, sideQuestions: false } });
  await side.findByText('This version of the agent does not answer side questions.');
  await user.keyboard('why?{Enter}');
  await tick();
  expect(sent()).not.toContain('askSide');
  const acp = { ...emptySession('s1', ''), agent: 'acp' as const, agentName: 'Codex' };
  const without = { ...acp, capabilities: { ...CAPABILITIES, sideQuestions: false } };
  expect(noSideQuestions(without, false)).toBe('Codex does not answer side questions in Deskbell.');
  expect(noSideQuestions(acp, true)).toBe('Another program has this conversation open.');
});

it('takes /btw for itself only where the agent has no such command', () => {
  const session = emptySession('s1', '');
  expect(
    ['/btw why?', ' /btw\nwhy?\nhow?', '/btw', '/btws', 'x /btw y'].map((text) => asideIn(text, session, [])),
  ).toEqual(['why?', 'why?\nhow?', '', null, null]);
  const image = { name: 'a.png', mediaType: 'image/png', data: '' };
  expect(asideIn('/btw why?', session, [image])).toBeNull();
  const commands = [{ name: 'btw', description: '', argumentHint: '' }];
  expect(asideIn('/btw why?', { ...session, commands }, [])).toBeNull();
});
