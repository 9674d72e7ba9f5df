// Drawn and announced states of tool calls that did not simply run.

import { fireEvent, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import { item, sessionOf } from '../../../stories/story';
import { draw } from '../../../test/draw';
import type { Body } from '../../bindings/api';
import * as script from '../../../fake/script';
import ItemView from './ItemView.svelte';
import GroupRow from './GroupRow.svelte';

async function drawn(body: Body, open = false): Promise<HTMLElement> {
  const { container } = await draw(ItemView, { item: item(body, { open }), session: sessionOf() });
  return container;
}

const written = (state: 'succeeded' | 'notRun' | 'denied') =>
  script.tool('edit', 'Did not write', 'notes.md', { type: 'edit', ...script.DIFF }, { state, durationMs: null });

it('counts no line of a change that was not made', async () => {
  expect((await drawn(written('succeeded'))).textContent).toContain('lines added');
  expect((await drawn(written('notRun'))).textContent).not.toContain('lines added');
  expect((await drawn(written('denied'), true)).textContent).toContain('This change was not made.');
});

it('draws a plan as a document, with its answer', async () => {
  const detail = { type: 'plan' as const, blocks: script.planBlocks() };
  const note = 'not approved: Begin with the totals.';
  const root = await drawn(script.tool('plan', 'Proposed', 'a plan', detail, { state: 'denied', note }), true);
  expect(root.querySelector('.head')?.textContent).toContain(note);
  expect(root.querySelector('.plan li')).not.toBeNull();
  expect(root.querySelector('.plan')?.textContent).not.toMatch(/[{}#]/);
});

it('says the state to those who do not see its picture', async () => {
  const root = await drawn(script.ran('rm -rf x', [], { state: 'notRun', note: 'interrupted before it ran' }));
  expect(root.querySelector('.state')?.textContent).toBe('Interrupted before it ran');
  expect(root.textContent).toContain('Did not run');
});

it('shows what ran, and on demand what the agent had asked for', async () => {
  const body = script.ran('touch changed.txt', [], { originalInput: 'touch original.txt' });
  const root = await drawn(body, true);
  expect(root.querySelector('.head')?.textContent).toContain('touch changed.txt');
  expect(root.querySelector('.head')?.textContent).toContain('edited by you');
  const original = root.querySelector('details');
  expect(original?.open).toBe(false);
  expect(original?.textContent).toContain('touch original.txt');
});

it('has no tick for a turn in which nothing was done', async () => {
  const end = { ...script.turnEnd(), outcome: { type: 'unavailable' }, words: 'Nothing was done' } as Body;
  const root = await drawn(end);
  expect(root.querySelector('.lucide-check')).toBeNull();
  expect((await drawn(script.turnEnd())).querySelector('.lucide-check')).not.toBeNull();
});

it('says nine changes to the tasks in one line', async () => {
  const items = [1, 1, 2, 2, 2, 3, 3, 3, 3].map((nDone) => item(script.todos(nDone)));
  let asked = false;
  const ontoggle = (open: boolean) => (asked = open);
  const props = { kind: 'tasks' as const, items, open: false, ontoggle, session: sessionOf() };
  const { container } = await draw(GroupRow, props);
  expect(container.querySelectorAll('.head').length).toBe(1);
  expect(container.textContent).toContain('Updated tasks: 3 of 4 done');
  await fireEvent.click(screen.getByRole('button'));
  expect(asked).toBe(true);
});

it('shows the images that a tool returned once its details are open, and says how many are gone', async () => {
  const body = { ...script.ran('screenshot', ['Image (image/png, 4 bytes)']), nImages: 2 } as Body;
  const shown = item(body, { open: false });
  const { container, project, redraw } = await draw(ItemView, { item: shown, session: sessionOf() });
  project.pane.toolImages = () => Promise.resolve([{ mediaType: 'image/png', data: 'iVBORw==' }]);
  expect(container.querySelector('img')).toBeNull();
  await redraw({ item: item(body, { open: true }) });
  const image = await screen.findByRole<HTMLImageElement>('img', { name: 'Image 1 of 2, image/png' });
  expect(image.src).toBe('data:image/png;base64,iVBORw==');
  screen.getByText('1 image can no longer be shown.');
  expect((await drawn(script.ran('ls', ['a']), true)).querySelector('.images')).toBeNull();
});
