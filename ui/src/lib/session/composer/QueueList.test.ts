import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { ManualClock } from '../../../test/clock';
import { draw } from '../../../test/draw';
import type { Command, QueuedPrompt } from '../../bindings/api';
import QueueList from './QueueList.svelte';

function queued(id: string, facts: Partial<QueuedPrompt> = {}): QueuedPrompt {
  return {
    id,
    text: `do ${id}`,
    nImages: 0,
    nDocuments: 0,
    held: false,
    cutOff: false,
    sendsAt: null,
    delivery: 'afterTurn',
    ...facts,
  };
}

async function queueList(queue: QueuedPrompt[], facts: { running?: boolean; takesIntoTurn?: boolean } = {}) {
  const commands: Command[] = [];
  const drawn = await draw(QueueList, {
    queue,
    running: true,
    takesIntoTurn: true,
    ...facts,
    oncommand: (command: Command) => {
      commands.push(command);
      return Promise.resolve(true);
    },
  });
  return { ...drawn, commands, user: userEvent.setup() };
}

const row = (text: string) => screen.getByText(text).closest('li') as HTMLElement;
const act = (text: string, name: string) => within(row(text)).getByRole<HTMLButtonElement>('button', { name });
const acts = (text: string) =>
  within(row(text))
    .getAllByRole('button')
    .map((button) => button.getAttribute('aria-label') ?? button.textContent.trim());

describe('a queue', () => {
  it('says when each of its prompts goes', async () => {
    await queueList([
      queued('a', { delivery: 'now' }),
      queued('b', { held: true, cutOff: true }),
      queued('c', { held: true }),
      queued('d', { delivery: 'intoTurn' }),
      queued('e'),
      queued('f', { held: true, sendsAt: new Date(new ManualClock().now()).setHours(23, 59) }),
    ]);
    const said = screen.getAllByRole('listitem').map((row) => row.textContent.replace(/\s+/g, ' ').trim());
    expect(said.map((words) => words.split(' do ')[0])).toEqual([
      'Now:',
      'Interrupted:',
      'Waiting:',
      'Into this turn:',
      'Then:',
      'At 23:59:',
    ]);
  });

  it('is continued after Stop, except for what was cut off', async () => {
    const { commands, user } = await queueList(
      [queued('a', { held: true, cutOff: true }), queued('b', { held: true }), queued('c', { held: true })],
      { running: false },
    );
    screen.getByText('2 not sent');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    expect(commands).toEqual([{ type: 'continueQueue' }]);
  });

  it('can send at once what waits for the reset of a limit', async () => {
    const { commands, user } = await queueList([queued('a', { held: true, sendsAt: Date.now() + 5e6 })], {
      running: false,
    });
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
    await user.click(act('do a', 'Send now'));
    expect(commands).toEqual([{ type: 'resend', promptId: 'a' }]);
  });

  it('offers to continue only where something can be continued', async () => {
    await queueList([queued('a', { held: true, cutOff: true })], { running: false });
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Stop and send next' })).toBeNull();
  });

  it('goes on with the next prompt when only the turn is to end', async () => {
    const { commands, user } = await queueList([queued('a'), queued('b', { held: true })]);
    await user.click(screen.getByRole('button', { name: 'Stop and send next' }));
    expect(commands).toEqual([{ type: 'interruptAndContinue' }]);
  });

  it('sends a prompt before its turn', async () => {
    const { commands, user } = await queueList([queued('a'), queued('b')]);
    await user.click(act('do b', 'Send now, ending this turn'));
    await user.click(act('do b', 'Send into this turn'));
    expect(commands).toEqual([
      { type: 'deliver', promptId: 'b', delivery: 'now' },
      { type: 'deliver', promptId: 'b', delivery: 'intoTurn' },
    ]);
  });

  it('offers only what can be done', async () => {
    await queueList([queued('a')], { running: false, takesIntoTurn: false });
    expect(acts('do a')).toEqual(['Edit queued prompt', 'Remove queued prompt']);
  });

  it('does not offer to put a prompt into a turn that cannot take it', async () => {
    await queueList([queued('a'), queued('b', { held: true })], { takesIntoTurn: false });
    expect(acts('do a')).not.toContain('Send into this turn');
    expect(acts('do b')).toContain('Send now');
  });

  it('moves a prompt with its buttons', async () => {
    const { commands, user } = await queueList([queued('a'), queued('b'), queued('c')]);
    expect(act('do a', 'Move up').disabled && act('do c', 'Move down').disabled).toBe(true);
    await user.click(act('do b', 'Move up'));
    await user.click(act('do a', 'Move down'));
    await user.click(act('do b', 'Move down'));
    expect(commands).toEqual([
      { type: 'move', promptId: 'b', before: 'a' },
      { type: 'move', promptId: 'a', before: 'c' },
      { type: 'move', promptId: 'b', before: null },
    ]);
  });

  it('moves the prompt that has the focus with the keyboard', async () => {
    const { commands, user } = await queueList([queued('a'), queued('b')]);
    act('do b', 'Edit queued prompt').focus();
    await user.keyboard('{Alt>}{ArrowDown}{ArrowUp}{/Alt}');
    expect(commands).toEqual([{ type: 'move', promptId: 'b', before: 'a' }]);
    expect(document.activeElement).toBe(act('do b', 'Edit queued prompt'));
  });
});
