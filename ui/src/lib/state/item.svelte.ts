// The state of one transcript item in the window: its content, and whether it is unfolded.

import type { Block, Body, CodeLine, Item, ItemId, Slice } from '../bindings/api';
import { reuse } from './reuse';

/**
 * An item whose changes redraw only its own component. Its blocks are never edited in place: a change makes a new array
 * around the old blocks, so an unchanged block is the same object and is not drawn again.
 */
export class ItemState {
  readonly id: ItemId;
  readonly parent: ItemId | null;
  readonly at: number;
  body = $state.raw<Body>({ type: 'text', blocks: [], streaming: false });
  /** The item's number in its row. */
  readonly nr: number;
  /** The loaded items that a subagent made on behalf of this tool call. */
  children = $state.raw<readonly ItemState[]>([]);
  /** How many items of the subagent precede the loaded ones. */
  nEarlier = $state.raw(0);
  /** Whether the user unfolded the item. Kept here because its component is destroyed when it scrolls out of view. */
  open = $state(false);

  /** The slice of a long text that this is. */
  slice = $state.raw<Slice>();
  /** The number of parts in which the item is drawn. */
  parts = $state.raw(1);
  /** The first part of the body. If it is not part 0, the body extends to the end. */
  #first = $state.raw(0);
  /** Parts outside the body that the user looks at. */
  #other = $state.raw<{ body: Body; first: number; last: number } | null>(null);

  constructor(item: Item) {
    this.id = item.id;
    this.parent = item.parent;
    this.nr = item.nr;
    this.at = item.at;
    this.body = item.body;
    this.slice = item.slice;
    this.parts = item.parts;
    this.#first = item.part;
  }

  /** The id of the whole item. */
  get whole(): ItemId {
    return this.slice?.of ?? this.id;
  }

  /** The body to draw. */
  get drawn(): Body {
    return this.#other?.body ?? this.body;
  }

  /** The first drawn part, counted from 0. */
  get firstPart(): number {
    return this.#other?.first ?? this.#first;
  }

  /** The last drawn part, counted from 0. */
  get lastPart(): number {
    return this.#other?.last ?? this.#lastOfBody;
  }

  /** Draws another part; `null` draws the item's own body again. */
  showPart(part: number, body: Body | null): void {
    this.#other = body && { body, first: part, last: part };
  }

  /** Whether the item's own body includes this part. */
  has(part: number): boolean {
    return part >= this.#first && part <= this.#lastOfBody;
  }

  /** Draws the end of a text again, whichever part the user looked at. */
  showEnd(): void {
    if (this.#first > 0) this.#other = null;
  }

  get #lastOfBody(): number {
    return this.#first === 0 ? 0 : this.parts - 1;
  }

  /** Applies a newer version of the item, reusing unchanged parts. */
  replace({ body, parts, part, slice }: Item, following = true): void {
    if (part !== this.#first) this.#stay(part, parts, following);
    this.body = reuse(this.body, body);
    this.slice = slice;
    this.parts = parts;
    this.#first = part;
    if (this.firstPart >= parts) this.#other = null;
  }

  /** Keeps drawing the old body for a user who does not follow the end, although it is no longer the item's own. */
  #stay(part: number, parts: number, following: boolean): void {
    if (this.#other !== null || (following && part >= this.#first) || parts === 1) return;
    const isOver = this.body.type !== 'text' || !this.body.streaming;
    // The last part may have grown since.
    const last = isOver ? this.#lastOfBody : Math.max(this.#first, (this.#first === 0 ? parts : this.parts) - 2);
    const before: Body = this.body.type === 'text' ? { ...this.body, streaming: false } : this.body;
    this.#other = { body: before, first: this.#first, last };
  }

  /** Keeps the first `keep` blocks of a text and appends `blocks`. */
  replaceTail(keep: number, blocks: Block[]): void {
    if (this.body.type !== 'text') return;
    const before = this.body.blocks;
    const tail = blocks.map((block, i) => {
      const old = before[keep + i];
      return old === undefined ? block : reuse(old, block);
    });
    this.body = { ...this.body, blocks: [...before.slice(0, keep), ...tail] };
  }

  /** Marks a text as complete. */
  finish(): void {
    if (this.body.type === 'text') this.body = { ...this.body, streaming: false };
  }

  /** Keeps the first `keep` lines of the last code block of a text and appends `lines`. */
  growCode(keep: number, lines: CodeLine[]): void {
    if (this.body.type !== 'text') return;
    const blocks = this.body.blocks;
    const last = blocks.at(-1);
    if (last?.type !== 'code') return;
    const grown: Block = { ...last, lines: [...last.lines.slice(0, keep), ...lines] };
    this.body = { ...this.body, blocks: [...blocks.slice(0, -1), grown] };
  }
}
