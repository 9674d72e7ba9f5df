// Streaming an answer into the conversation, frame by frame, for measurements: as today in one row, in bounded rows, and
// as plain text.

import { createRawSnippet, type Component } from 'svelte';

import type { Batch, Block, Event, Item } from '../../lib/bindings/api';
import Transcript from '../../lib/conversation/Transcript.svelte';
import { document as parsed } from '../../lib/host/fake/markdown';
import { SessionState } from '../../lib/state/session.svelte';
import { batch, session, snapshot } from '../make';
import { changed, elements, slices, type Change } from './slices';

export type Way = 'answer' | 'rows' | 'plain';

/** A text on its way to the page. Each call of `frame` adds what arrives in one frame; it returns whether more comes. */
export interface Streamed {
  frame: () => boolean;
  component?: Component<Record<string, unknown>>;
  props?: Record<string, unknown>;
  element?: HTMLElement;
}

/** As in the engine (`transcript/parts.rs`): the most of a streaming answer that a window has. */
const PARTS_NODES = 8_000;
const PARTS_BYTES = 128 * 1024;

/** Text that looks like an answer of an agent, about `n` characters of it. */
export function answer(n: number): string {
  const section = (nr: number) => `## Step ${nr}

The totals of month ${nr} were off by a *cent* because \`Money::round\` rounded midpoints away from zero. Over a month of
postings this **adds up**, since midpoints are common in prices, and each report repeats the sum of the one before it.

- The rule of the bank rounds half to even in \`src/money_${nr}.rs\`
- Stored totals are untouched; only new sums are rounded this way

\`\`\`rust
pub fn round_${nr}(self, places: u32) -> Self {
    // Banker's rounding: the totals of a month then match the bank's.
    Self(self.0.round_dp_with_strategy(places, MidpointNearestEven))
}
\`\`\`

| Month | Before | After |
|---|---|---|
| January | 1,204.5${nr} | 1,204.54 |
| February | 980.13 | 980.12 |

`;
  let text = '';
  for (let nr = 1; text.length < n; nr += 1) text += section(nr);
  return text;
}

/** The changes of a text that arrives in pieces of whole lines, by the parser of the fake host. */
export function changesOf(text: string, piece: number): Change[] {
  let before: Block[] = [];
  const changes: Change[] = [];
  for (let at = piece; at < text.length + piece; at += piece) {
    const blocks = parsed(text.slice(0, text.lastIndexOf('\n', at) + 1));
    let keep = 0;
    while (keep < before.length && JSON.stringify(blocks[keep]) === JSON.stringify(before[keep])) keep += 1;
    changes.push({ at: Math.min(at, text.length), keep, blocks: blocks.slice(keep) });
    before = blocks;
  }
  return changes;
}

/** Streams changes of a document; in one frame arrive those within `perFrame` bytes. */
export function streamed(way: Way, text: string, changes: readonly Change[], perFrame: number): Streamed {
  if (way === 'plain') return plain(text, perFrame);
  const state = new SessionState(session());
  state.load(snapshot(0));
  const none = createRawSnippet(() => ({ render: () => '<span></span>' }));
  const batches = batchesOf(way === 'answer' ? new InOneRow() : new InRows(), changes, perFrame);
  let next = 0;
  const frame = () => {
    // A batch arrives as text.
    state.apply(JSON.parse(batches[next++] ?? '') as Batch);
    return next < batches.length;
  };
  const component = Transcript as unknown as Component<Record<string, unknown>>;
  return { frame, component, props: { session: state, footer: none, empty: none } };
}

/** The batch of each frame. */
function batchesOf(events: InOneRow | InRows, changes: readonly Change[], perFrame: number): string[] {
  const batches: string[] = [];
  let blocks: readonly Block[] = [];
  let [next, seq] = [0, 0];
  for (let at = perFrame; next < changes.length; at += perFrame) {
    let keep = blocks.length;
    for (let change = changes[next]; change !== undefined && change.at <= at; change = changes[++next]) {
      keep = Math.min(keep, 'keep' in change ? change.keep : blocks.length - 1);
      blocks = changed(blocks, change);
    }
    const all = events.of(blocks, keep, next === changes.length);
    batches.push(JSON.stringify(inBatch(seq, all, events.nRows)));
    seq += all.length;
  }
  return batches;
}

function inBatch(after: number, events: Event[], total: number): Batch {
  return batch(after, events, after + events.length, { first: 0, end: total, total, requestId: 1 });
}

const textItem = (id: string, row: number, blocks: readonly Block[], streaming: boolean): Item => ({
  ...{ id, parent: null, row, nr: 0, at: 1, part: 0, parts: 1 },
  body: { type: 'text', blocks: [...blocks], streaming },
});

/** One item, whose beginning is dropped when it becomes long, as the engine does it. */
class InOneRow {
  nRows = 0;
  #nGone = 0;
  #part = 0;

  of(blocks: readonly Block[], keep: number, isOver: boolean): Event[] {
    if (this.nRows === 0) {
      this.nRows = 1;
      return [{ type: 'itemAdded', item: textItem('a', 0, blocks, true) }];
    }
    const events: Event[] = [];
    if (keep < blocks.length) {
      const own = blocks.slice(keep);
      events.push({ type: 'blocksChanged', itemId: 'a', keep: keep - this.#nGone, blocks: [...own] });
    }
    const size = (from: number) => {
      const held = blocks.slice(from);
      return {
        nodes: held.reduce((sum, block) => sum + elements(block), 0),
        bytes: held.reduce((sum, block) => sum + JSON.stringify(block).length / 4, 0),
      };
    };
    const { nodes, bytes } = size(this.#nGone);
    if (nodes > PARTS_NODES || bytes > PARTS_BYTES) {
      let n = 0;
      for (let left = nodes; left > PARTS_NODES / 2; n += 1) left -= elements(blocks[this.#nGone + n] as Block);
      this.#nGone += n;
      this.#part += 1;
      const gone = { blocks: n, lines: 0, cut: null };
      events.push({ type: 'beginningGone', itemId: 'a', part: this.#part, parts: this.#part + 2, gone });
    }
    if (isOver) events.push({ type: 'textFinished', itemId: 'a' });
    return events;
  }
}

/** A row for each slice. */
class InRows {
  nRows = 0;
  /** The rows of each block. */
  #rows: (readonly Block[])[] = [];

  of(blocks: readonly Block[], keep: number, isOver: boolean): Event[] {
    const events: Event[] = [];
    const before = this.#rows.slice(keep).flat();
    const from = this.#rows.slice(0, keep).reduce((sum, rows) => sum + rows.length, 0);
    this.#rows = [...this.#rows.slice(0, keep), ...blocks.slice(keep).map(slices)];
    const after = this.#rows.slice(keep).flat();
    for (const [i, row] of after.entries()) {
      const item = textItem(`a.${from + i}`, from + i, [row], !isOver);
      if (i >= before.length) events.push({ type: 'itemAdded', item });
      else if (JSON.stringify(row) !== JSON.stringify(before[i])) events.push({ type: 'itemChanged', item });
    }
    for (let i = after.length; i < before.length; i += 1) {
      events.push({ type: 'itemRemoved', itemId: `a.${from + i}` });
    }
    if (isOver) {
      const all = Array.from({ length: from + after.length }, (_, i) => `a.${i}`);
      events.push(...all.map((itemId): Event => ({ type: 'textFinished', itemId })));
    }
    this.nRows = Math.max(this.nRows, from + after.length);
    return events;
  }
}

/** Plain text, a line an element, in a view that follows its end. */
function plain(text: string, perFrame: number): Streamed {
  const element = document.createElement('div');
  Object.assign(element.style, { height: '100%', overflow: 'auto', whiteSpace: 'pre-wrap', lineHeight: '1.6' });
  let [at, line] = [0, document.createElement('div')];
  element.append(line);
  const frame = () => {
    const [first = '', ...others] = text.slice(at, at + perFrame).split('\n');
    line.append(first);
    for (const other of others) {
      line = document.createElement('div');
      line.append(other);
      element.append(line);
    }
    at += perFrame;
    element.scrollTop = element.scrollHeight;
    return at < text.length;
  };
  return { frame, element };
}
