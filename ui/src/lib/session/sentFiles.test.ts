import { expect, it } from 'vitest';
import { SentFiles } from './sentFiles.svelte';

const file = (name: string, n = 1) => ({ name, mediaType: 'text/plain', data: 'x'.repeat(n) });

it('keeps the attachments of the last prompts, by session, text and number', () => {
  const sent = new SentFiles();
  sent.keep('a', 'look', [file('one')], 10);
  sent.keep('b', 'look', [file('three'), file('four')], 10);
  sent.keep('a', 'no files', [], 10);
  expect(sent.of('a', 'look', 1, 10)?.map(({ name }) => name)).toEqual(['one']);
  expect(sent.of('b', 'look', 2, 10)?.map(({ name }) => name)).toEqual(['three', 'four']);
  for (const [session, text, count] of [
    ['a', 'look', 2],
    ['a', 'other', 1],
    ['c', 'look', 1],
    ['a', 'no files', 0],
  ] as const) {
    expect(sent.of(session, text, count, 10)).toBeNull();
  }
});

it('gives each of two prompts with the same text its own attachments, and an earlier one none', () => {
  const sent = new SentFiles();
  sent.keep('a', 'look', [file('one')], 10);
  sent.keep('a', 'look', [file('two')], 20);
  const names = [9, 12, 25].map((at) => sent.of('a', 'look', 1, at)?.map(({ name }) => name));
  expect(names).toEqual([undefined, ['one'], ['two']]);
});

it('finds a long prompt by the end of its text', () => {
  const sent = new SentFiles();
  sent.keep('a', 'the first slice, the last slice', [file('one')], 10);
  expect(sent.of('a', 'the last slice', 1, 10)).toBeNull();
  expect(sent.of('a', 'the last slice', 1, 10, true)?.map(({ name }) => name)).toEqual(['one']);
});

it('forgets the oldest ones', () => {
  const sent = new SentFiles();
  for (let nr = 0; nr < 9; nr++) sent.keep('a', `${nr}`, [file('one')], nr);
  expect(sent.of('a', '0', 1, 10)).toBeNull();
  expect(sent.of('a', '1', 1, 10)).not.toBeNull();
  sent.keep('a', 'large', [file('large', 40 * 1024 * 1024)], 10);
  sent.keep('a', 'larger', [file('larger', 50 * 1024 * 1024)], 10);
  expect(sent.of('a', 'large', 1, 10)).toBeNull();
  expect(sent.of('a', 'larger', 1, 10)).not.toBeNull();
  sent.keep('a', 'too large', [file('too large', 65 * 1024 * 1024)], 10);
  expect(sent.of('a', 'too large', 1, 10)).toBeNull();
});
