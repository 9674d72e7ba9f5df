import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import { draw } from '../../test/draw';
import { code, paragraph } from '../../test/make';
import TextDocument from './TextDocument.svelte';

const blocks = Array.from({ length: 100 }, (_, i) => paragraph(`words ${i}`));
const SLICE = { of: 'a', nr: 1, isLast: false, block: 40, continues: true, isContinued: false };

it('changes only its last block when the text grows', async () => {
  const textOf = (n: number) => ({ type: 'text', blocks: blocks.slice(0, n), streaming: true }) as const;
  const { container, redraw } = await draw(TextDocument, { id: 'a', text: textOf(50) });
  const drawn = () => [...container.querySelectorAll('p')];
  const before = drawn();
  const changed = new Set<Node>();
  const observer = new MutationObserver((records) => records.forEach(({ target }) => changed.add(target)));
  for (const block of before.slice(0, -1))
    observer.observe(block, { subtree: true, childList: true, attributes: true });
  await redraw({ text: textOf(60) });
  await tick();
  observer.disconnect();
  expect(drawn().slice(0, before.length)).toEqual(before);
  expect([...changed]).toEqual([]);
  expect(drawn()).toHaveLength(60);
});

it('copies the whole of a code block of which it has a part', async () => {
  const text = { type: 'text' as const, blocks: [paragraph('a'), code('one')], streaming: false };
  const { host } = await draw(TextDocument, { id: 'a', text, slice: { ...SLICE, continues: false } });
  const copied: unknown[] = [];
  host.copyText = (_, copy) => {
    copied.push(copy);
    return Promise.resolve('the whole code');
  };
  await fireEvent.click(screen.getByRole('button', { name: 'Copy code' }));
  expect(copied).toEqual([{ type: 'code', itemId: 'a', block: 41 }]);
});

it('has no second head for a code block that began before, and no button for the message before its end', async () => {
  const text = { type: 'text' as const, blocks: [code('two')], streaming: false };
  const { redraw } = await draw(TextDocument, { id: 'a', text, slice: SLICE });
  expect(screen.queryAllByRole('button')).toEqual([]);
  expect(screen.queryByText('text')).toBeNull();
  await redraw({ slice: { ...SLICE, isLast: true } });
  expect(screen.getByRole('button', { name: 'Copy message' })).not.toBeNull();
});
