// Streaming an answer into the conversation, frame by frame, for measurements: in the rows of its slices, and as plain
// text.

import { createRawSnippet, type Component } from 'svelte';

import type { Batch, Block, Event, Item } from '../../lib/bindings/api';
import Transcript from '../../lib/session/conversation/Transcript.svelte';
import { document as parsed } from '../../fake/markdown';
import { SessionState } from '../../lib/session/session.svelte';
import { batch, session, snapshot } from '../make';

export type Way = 'answer' | 'plain';

/** A change of a document: its first `keep` blocks stay, `blocks` follow them. It has arrived with byte `at`. */
export interface Change {
  at: number;
  keep: number;
  blocks: readonly Block[];
}

/** A text on its way to the page. Each call of `frame` adds what arrives in one frame; it returns whether more comes. */
export interface Streamed {
  frame: () => boolean;
  component?: Component<Record<string, unknown>>;
  props?: Record<string, unknown>;
  element?: HTMLElement;
}

/** As in the engine (`transcript/slices.rs`), but only between blocks: what a slice holds. */
const SLICE_NODES = 600;
const SLICE_BYTES = 8 * 1024;

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
  const batches = batchesOf(new Slices(), changes, perFrame);
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
function batchesOf(events: Slices, changes: readonly Change[], perFrame: number): string[] {
  const batches: string[] = [];
  let blocks: readonly Block[] = [];
  let [next, seq] = [0, 0];
  for (let at = perFrame; next < changes.length; at += perFrame) {
    let keep = blocks.length;
    for (let change = changes[next]; change !== undefined && change.at <= at; change = changes[++next]) {
      keep = Math.min(keep, change.keep);
      blocks = [...blocks.slice(0, change.keep), ...change.blocks];
    }
    const all = events.of(blocks, keep, next === changes.length);
    batches.push(JSON.stringify(inBatch(seq, all, events.nRows)));
    seq += all.length;
  }
  return batches;
}

function inBatch(after: number, events: Event[], total: number): Batch {
  return batch(after, events, after + events.length, { first: 0, end: total, total, nContinued: 0, requestId: 1 });
}

/** The events of a window that has all slices of a text. */
class Slices {
  nRows = 0;
  /** The first block of each slice. */
  #from = [0];

  of(blocks: readonly Block[], keep: number, isOver: boolean): Event[] {
    const nBefore = this.nRows;
    while (this.#from.length > 1 && (this.#from.at(-1) ?? 0) >= keep) this.#from.pop();
    const first = this.#from.length - 1;
    this.#extend(blocks);
    this.nRows = Math.max(nBefore, this.#from.length);
    const own = keep - (this.#from[first] ?? 0);
    const last = `a.${this.#from.length - 1}`;
    const events: Event[] =
      nBefore === this.#from.length && first + 1 === nBefore
        ? [{ type: 'blocksChanged', itemId: last, keep: own, blocks: blocks.slice(keep) }]
        : this.#from.slice(first).map((_, i) => {
            const item = this.#item(blocks, first + i);
            return { type: first + i < nBefore ? 'itemChanged' : 'itemAdded', item };
          });
    if (isOver) events.push({ type: 'textFinished', itemId: last });
    return events;
  }

  #extend(blocks: readonly Block[]): void {
    let [nodes, bytes] = [0, 0];
    for (let i = this.#from.at(-1) ?? 0; i < blocks.length; i += 1) {
      if (nodes > SLICE_NODES || bytes > SLICE_BYTES) {
        this.#from.push(i);
        [nodes, bytes] = [0, 0];
      }
      nodes += elements(blocks[i] as Block);
      bytes += JSON.stringify(blocks[i]).length / 4;
    }
  }

  #item(blocks: readonly Block[], nr: number): Item {
    const block = this.#from[nr] ?? 0;
    const isLast = nr === this.#from.length - 1;
    return {
      ...{ id: `a.${nr}`, parent: null, row: nr, nr: 0, at: 1 },
      slice: { of: 'a', nr, isLast, block, continues: false, isContinued: false },
      body: { type: 'text', blocks: blocks.slice(block, this.#from[nr + 1]), streaming: isLast },
    };
  }
}

/** The number of elements of a block, roughly. */
function elements(block: Block): number {
  const all = (blocks: readonly Block[]) => blocks.reduce((sum, inner) => sum + elements(inner), 1);
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return 1 + block.spans.length;
    case 'code':
      return block.lines.reduce((sum, line) => sum + 1 + line.tokens.length, 1);
    case 'quote':
    case 'footnote':
      return all(block.blocks);
    case 'list':
      return block.items.reduce((sum, item) => sum + all(item.blocks), 1);
    case 'table':
      return [block.head, ...block.rows].reduce((sum, row) => sum + 1 + row.length, 1);
    case 'rule':
      return 1;
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
