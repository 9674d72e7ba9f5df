// The state of one transcript item in the window: its content, and whether it is unfolded.

import type { Block, Body, CodeLine, Item, ItemId, ListItem, Slice } from '../bindings/api';
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
  /** How many calls it is inside of. */
  readonly depth: number;
  /** Whether the user unfolded the item. Kept here because its component is destroyed when it scrolls out of view. */
  open = $state(false);

  /** The slice of a long item that this is. */
  slice = $state.raw<Slice>();

  constructor(item: Item) {
    this.id = item.id;
    this.parent = item.parent;
    this.nr = item.nr;
    this.depth = item.depth ?? 0;
    this.at = item.at;
    this.body = item.body;
    this.slice = item.slice;
  }

  /** The id of the whole item. */
  get whole(): ItemId {
    return this.slice?.of ?? this.id;
  }

  /** Applies a newer version of the item, reusing unchanged parts. */
  replace({ body, slice }: Item): void {
    this.body = reuse(this.body, body);
    this.slice = slice;
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

  /** Keeps the first `keep` lines of the code block at the end of a text and appends `lines`. */
  growCode(keep: number, lines: CodeLine[]): void {
    this.#growLast((last) =>
      last.type === 'code' ? { ...last, lines: [...last.lines.slice(0, keep), ...lines] } : null,
    );
  }

  /** Keeps the first `keep` entries of the list at the end of a text and appends `entries`. */
  growEntries(keep: number, entries: ListItem[]): void {
    this.#growLast((last) =>
      last.type === 'list' ? { ...last, items: [...last.items.slice(0, keep), ...entries] } : null,
    );
  }

  /** Replaces the last block of a text by what `grow` returns; `null` leaves the text as it is. */
  #growLast(grow: (last: Block) => Block | null): void {
    if (this.body.type !== 'text') return;
    const last = this.body.blocks.at(-1);
    const grown = last === undefined ? null : grow(last);
    if (grown !== null) this.body = { ...this.body, blocks: [...this.body.blocks.slice(0, -1), grown] };
  }
}
