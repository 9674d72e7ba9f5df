// The requests of tests/hostile/permissions on the card, as the engine shows them.

import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import hostile from '../../../test/hostile.json';
import { draw } from '../../../test/draw';
import type { PermissionRequest } from '../../bindings/api';
import { diffLines } from '../../document/diffLines';
import { isLookalike, oddityOf } from '../../text/reveal';
import PermissionCard from './PermissionCard.svelte';

const requests = hostile as unknown as PermissionRequest[];

/** The text that the marks and escapes represent. */
function meant(shown: string): string {
  return shown
    .replaceAll('↵\n', '\n')
    .replaceAll('⇥\t', '\t')
    .replaceAll('·', ' ')
    .replaceAll(/\\u\{([0-9A-F]{4,6})\}/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)));
}

/** Selectors and roles take seconds in jsdom if a card has thousands of marks. */
const named = (container: Element, tag: string, name: string) =>
  [...container.getElementsByTagName(tag)].find((element) => element.getAttribute('aria-label') === name);

/** The lookalike characters of a text, in order, and the marked ones on the page. */
const lookalikes = (source: string) => [...source].filter(isLookalike);
const marked = (shown: Element) => [...shown.getElementsByClassName('lookalike')].map((mark) => mark.textContent);

it('is the whole corpus', () => expect(requests.length).toBeGreaterThanOrEqual(60));

// The longest request takes seconds in jsdom, and longer on a busy machine.
it.each(requests.map((request) => [request.id, request] as const))('%s', { timeout: 60_000 }, async (_id, request) => {
  const container = await drawn(request);
  const details = container.getElementsByTagName('details')[0];
  if (details && !details.open) {
    details.open = true;
    await fireEvent(details, new Event('toggle'));
  }
  const texts: [string, string][] = [
    ['Requested action', request.subject],
    ['Full input', request.inputText],
  ];
  for (const [name, source] of texts) {
    const pane = named(container, 'pre', name) as Element;
    expect(meant(pane.textContent)).toBe(meant(source));
    expect(marked(pane)).toEqual(lookalikes(source));
  }
  const items = [...(named(container, 'ul', 'Warnings')?.getElementsByTagName('li') ?? [])];
  expect(items.map((item) => item.textContent)).toEqual(request.notices.map((notice) => notice.words));
  // The page includes no character that it would hide, reorder or stack.
  const hidden = (char: string) => char !== '\n' && char !== '\t' && oddityOf(char) !== null;
  expect([...container.textContent].filter(hidden)).toEqual([]);
});

/** Draws the card of a request. */
async function drawn(request: PermissionRequest) {
  const ondecide = () => Promise.resolve(true);
  const { container } = await draw(PermissionCard, { request, project: 'ledger', ondecide });
  await tick();
  return container;
}

const changes = requests.filter((request) => request.diff !== null);

it.each(changes.map((request) => [request.id, request] as const))('%s: the change', async (_id, request) => {
  const container = await drawn(request);
  const lines = request.diff?.hunks.flatMap(diffLines) ?? [];
  const sources = lines.map((line) => line.parts.map((part) => part.text).join(''));
  const shown = [...container.querySelectorAll('.diff .text')];
  expect(shown.map((line) => meant(line.textContent))).toEqual(sources.map(meant));
  expect(shown.map(marked)).toEqual(sources.map(lookalikes));
});

const ruled = requests.filter((request) => request.suggestions.length > 0);

it.each(ruled.map((request) => [request.id, request] as const))('%s: the rules', async (_id, request) => {
  const container = await drawn(request);
  await fireEvent.click(screen.getByRole('button', { name: 'Always allow…' }));
  const shown = [...container.querySelectorAll('[role=radiogroup] code')];
  const rules = request.suggestions.map((suggestion) => suggestion.rule);
  expect(shown.map((rule) => meant(rule.textContent))).toEqual(rules);
  expect(shown.map(marked)).toEqual(rules.map(lookalikes));
  for (const [i, choice] of screen.getAllByRole<HTMLInputElement>('radio').entries()) {
    const odd = [...(rules[i] ?? '')].some((char) => oddityOf(char) !== null || isLookalike(char));
    expect(/direction of the text|looks like another/.test(choice.labels?.[0]?.textContent ?? '')).toBe(odd);
  }
});

it('has changes and rules that mislead', () => {
  const kinds = (some: readonly PermissionRequest[]) => new Set(some.map((request) => request.id.split('/')[0]));
  for (const kind of ['direction', 'lookAlike']) {
    expect(kinds(changes)).toContain(kind);
    expect(kinds(ruled)).toContain(kind);
  }
});
