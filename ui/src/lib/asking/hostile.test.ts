// The requests of tests/hostile/permissions, as the engine shows them, on the card.

import { fireEvent, screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import hostile from '../../test/hostile.json';
import { draw } from '../../test/draw';
import type { PermissionRequest } from '../bindings/api';
import { oddityOf } from '../text/reveal';
import PermissionCard from './PermissionCard.svelte';

const requests = hostile as unknown as PermissionRequest[];

/** The text that the marks and escapes stand for. */
function meant(shown: string): string {
  return shown
    .replaceAll('↵\n', '\n')
    .replaceAll('⇥\t', '\t')
    .replaceAll('·', ' ')
    .replaceAll(/\\u\{([0-9A-F]{4,6})\}/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)));
}

it('is the whole corpus', () => expect(requests.length).toBeGreaterThanOrEqual(60));

it.each(requests.map((request) => [request.id, request] as const))('%s', async (_id, request) => {
  const ondecide = () => Promise.resolve(true);
  const { container } = await draw(PermissionCard, { request, project: 'ledger', ondecide });
  await tick();
  const details = container.querySelector('details');
  if (details && !details.open) {
    details.open = true;
    await fireEvent(details, new Event('toggle'));
  }
  const texts: [string, string][] = [
    ['What would be done', request.subject],
    ['Whole input', request.inputText],
  ];
  for (const [name, source] of texts) {
    const shown = screen.getByRole('group', { name }).textContent;
    expect(meant(shown)).toBe(meant(source));
  }
  const told = screen.queryByRole('list', { name: 'Look twice' });
  const items = told === null ? [] : within(told).getAllByRole('listitem');
  expect(items.map((item) => item.textContent)).toEqual(request.notices.map((notice) => notice.words));
  // Nothing reaches the page that the page would hide, turn round or stack.
  for (const char of container.textContent) {
    if (char !== '\n' && char !== '\t') expect(oddityOf(char)).toBeNull();
  }
  const lookalikes = new Set(request.notices.flatMap((notice) => notice.characters));
  const marked = [...container.querySelectorAll('.lookalike')].map((mark) => mark.textContent);
  const here = [...request.subject].filter((char) => lookalikes.has(char));
  expect(new Set(marked)).toEqual(new Set([...here, ...[...request.inputText].filter((char) => lookalikes.has(char))]));
});
