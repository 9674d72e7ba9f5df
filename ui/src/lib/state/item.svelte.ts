// One item of a conversation as the interface holds it: what it says, and whether it is unfolded.

import type { Block, Body, CodeLine, Item, ItemId } from '../bindings/api';
import { reuse } from './reuse';

/**
 * An item whose every change is seen by its own component only. Its blocks are never edited in place: a change makes
 * a new array around the old blocks, so a block that did not change is the same object and is not drawn again.
 */
export class ItemState {
  readonly id: ItemId;
  readonly parent: ItemId | null;
  readonly at: number;
  body = $state.raw<Body>({ type: 'text', blocks: [], streaming: false });
  /** Items that a subagent made on behalf of this tool call. */
  children = $state.raw<ItemState[]>([]);
  /** Unfolded by the reader. Kept here, since the component goes away when it is scrolled out of sight. */
  open = $state(false);

  /** In how many parts it is drawn; the first is its body. */
  parts = $state.raw(1);
  /** The part that the reader looks at, and its body if it is not the first. */
  part = $state.raw(0);
  #other = $state.raw<Body | null>(null);

  constructor(item: Item) {
    this.id = item.id;
    this.parent = item.parent;
    this.at = item.at;
    this.body = item.body;
    this.parts = item.parts;
  }

  /** What is drawn. */
  get drawn(): Body {
    return this.#other ?? this.body;
  }

  /** Draws this part; the first without a body of its own. */
  showPart(part: number, body: Body | null): void {
    this.part = part;
    this.#other = body;
  }

  /** Takes over a newer version of the item, keeping the parts that are the same. */
  replace(body: Body, parts: number): void {
    this.body = reuse(this.body, body);
    this.parts = parts;
    if (this.part >= parts) this.showPart(0, null);
  }

  /** Keeps the first `keep` blocks of a text and puts `blocks` after them. */
  replaceTail(keep: number, blocks: Block[]): void {
    if (this.body.type !== 'text') return;
    const before = this.body.blocks;
    const tail = blocks.map((block, i) => {
      const old = before[keep + i];
      return old === undefined ? block : reuse(old, block);
    });
    this.body = { ...this.body, blocks: [...before.slice(0, keep), ...tail] };
  }

  /** Nothing more comes to a text. */
  finish(): void {
    if (this.body.type === 'text') this.body = { ...this.body, streaming: false };
  }

  /** Keeps the first `keep` lines of the code block at the end of a text and puts `lines` after them. */
  growCode(keep: number, lines: CodeLine[]): void {
    if (this.body.type !== 'text') return;
    const blocks = this.body.blocks;
    const last = blocks.at(-1);
    if (last?.type !== 'code') return;
    const grown: Block = { ...last, lines: [...last.lines.slice(0, keep), ...lines] };
    this.body = { ...this.body, blocks: [...blocks.slice(0, -1), grown] };
  }
}
