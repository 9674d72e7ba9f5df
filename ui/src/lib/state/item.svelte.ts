// One item of a conversation as the interface holds it: what it says, and whether it is unfolded.

import type { Block, Body, CodeLine, Event, Gone, Item, ItemId } from '../bindings/api';
import { reuse } from './reuse';

type BeginningGone = Extract<Event, { type: 'beginningGone' }>;

/**
 * An item whose every change is seen by its own component only. Its blocks are never edited in place: a change makes
 * a new array around the old blocks, so a block that did not change is the same object and is not drawn again.
 */
export class ItemState {
  readonly id: ItemId;
  readonly parent: ItemId | null;
  readonly at: number;
  body = $state.raw<Body>({ type: 'text', blocks: [], streaming: false });
  /** Its number in its row. */
  readonly nr: number;
  /** Items that a subagent made on behalf of this tool call, of those that are held. */
  children = $state.raw<readonly ItemState[]>([]);
  /** How many items of its subagent come before those that are held. */
  nEarlier = $state.raw(0);
  /** Unfolded by the reader. Kept here, since the component goes away when it is scrolled out of sight. */
  open = $state(false);

  /** In how many parts it is drawn. */
  parts = $state.raw(1);
  /** The part that its body begins with. If that is not the first, the body goes on to the end. */
  #first = $state.raw(0);
  /** How many blocks of a text that streams were before those of its body: what is drawn stays when its beginning goes. */
  #before = $state.raw(0);
  /** Other parts than those of its body, that the reader looks at. */
  #other = $state.raw<{ body: Body; first: number; last: number; before: number } | null>(null);

  constructor(item: Item) {
    this.id = item.id;
    this.parent = item.parent;
    this.nr = item.nr;
    this.at = item.at;
    this.body = item.body;
    this.parts = item.parts;
    this.#first = item.part;
  }

  /** What is drawn. */
  get drawn(): Body {
    return this.#other?.body ?? this.body;
  }

  /** The number of the first block that is drawn: each keeps its own for as long as it is drawn. */
  get firstBlock(): number {
    return this.#other?.before ?? this.#before;
  }

  /** The first part that is drawn, counted from 0. */
  get firstPart(): number {
    return this.#other?.first ?? this.#first;
  }

  /** The last part that is drawn. */
  get lastPart(): number {
    return this.#other?.last ?? this.#lastOfBody;
  }

  /** Draws another part, or again what it says itself. */
  showPart(part: number, body: Body | null): void {
    this.#other = body && { body, first: part, last: part, before: 0 };
  }

  /** Its own body has this part. */
  has(part: number): boolean {
    return part >= this.#first && part <= this.#lastOfBody;
  }

  /** Draws the end of a text again, whatever the reader looked at. */
  showEnd(): void {
    if (this.#first > 0) this.#other = null;
  }

  get #lastOfBody(): number {
    return this.#first === 0 ? 0 : this.parts - 1;
  }

  /** Takes over a newer version of the item, keeping what is the same. */
  replace({ body, parts, part }: Item, following = true): void {
    if (part !== this.#first) this.#stay(part, parts, following);
    this.body = reuse(this.body, body);
    this.parts = parts;
    this.#first = part;
    if (this.firstPart >= parts) this.#other = null;
  }

  /** Its body begins with a later part, and what is before that goes. */
  dropBeginning({ part, parts, gone }: BeginningGone, following = true): void {
    if (this.body.type !== 'text') return;
    if (part !== this.#first) this.#stay(part, parts, following);
    const [first, ...others] = this.body.blocks.slice(gone.blocks);
    this.body = { ...this.body, blocks: first === undefined ? [] : [withoutBeginning(first, gone), ...others] };
    this.#before += gone.blocks;
    this.parts = parts;
    this.#first = part;
  }

  /** Whoever does not follow the end goes on reading what is before him, though it is no longer what the item says of itself. */
  #stay(part: number, parts: number, following: boolean): void {
    if (this.#other !== null || (following && part >= this.#first) || parts === 1) return;
    const isOver = this.body.type !== 'text' || !this.body.streaming;
    // Its last part may have grown since.
    const last = isOver ? this.#lastOfBody : Math.max(this.#first, (this.#first === 0 ? parts : this.parts) - 2);
    const before: Body = this.body.type === 'text' ? { ...this.body, streaming: false } : this.body;
    this.#other = { body: before, first: this.#first, last, before: this.#before };
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

function withoutBeginning(block: Block, { lines, cut }: Gone): Block {
  if (cut !== null) return cut;
  return block.type === 'code' && lines > 0 ? { ...block, lines: block.lines.slice(lines) } : block;
}
