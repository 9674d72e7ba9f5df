import { expect, it } from 'vitest';

import { paragraph } from '../../test/make';
import { chunked, chunkKey } from './chunks';

const blocks = Array.from({ length: 100 }, (_, i) => paragraph(`words ${i}`));

it('has every block once, in order', () => {
  for (const from of [0, 5, 16]) {
    const chunks = chunked(blocks, from, false, []);
    expect(chunks.flatMap((chunk) => chunk.blocks)).toEqual(blocks);
    expect(chunks[0]?.from).toBe(from);
    expect(new Set(chunks.map(chunkKey)).size).toBe(chunks.length);
  }
});

it('changes in no chunk but the last when the text grows', () => {
  const before = chunked(blocks.slice(0, 90), 0, true, []);
  const after = chunked([...blocks.slice(0, 89), paragraph('other'), ...blocks.slice(90)], 0, true, before);
  const others = before.slice(0, -1);
  expect(after.slice(0, others.length)).toEqual(others);
  others.forEach((chunk, i) => expect(after[i]).toBe(chunk));
  expect(after.filter(({ grows }) => grows)).toEqual(after.slice(-1));
});

it('changes in no chunk but the first when its beginning goes', () => {
  const before = chunked(blocks, 0, true, []);
  const after = chunked(blocks.slice(20), 20, true, before);
  expect(after.map(chunkKey)).toEqual(before.slice(1).map(chunkKey));
  after.slice(1).forEach((chunk, i) => expect(chunk).toBe(before[2 + i]));
});
