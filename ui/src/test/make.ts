// Factories for test data.

import type { Batch, Block, Event, Item, ItemId, RowRange, Session, Snapshot, ToolIcon } from '../lib/bindings/api';
import { emptySession } from '../fake/facts';
import { codeLine } from '../fake/markdown';
import { tool, whole } from '../fake/script';

export function session(facts: Partial<Session> = {}): Session {
  return { ...emptySession('s1', 'A session'), createdAt: 1, changedAt: 1, ...facts };
}

/** Every item has its own row, below those made before. */
let nextRow = 0;

export function at(row: number, item: Item): Item {
  return { ...item, row };
}

export function snapshot(seq: number, items: Item[] = [], facts: Partial<Session> = {}): Snapshot {
  const total = items.reduce((rows, item) => Math.max(rows, item.row + 1), 0);
  const rows = { first: 0, end: total, total, nContinued: 0, requestId: 1 };
  return {
    seq,
    lastEventAt: 1_000_000,
    session: session(facts),
    rows,
    isPartial: false,
    items,
    files: [],
    tasks: [],
    prompts: [],
  };
}

/** A batch for a window in which all rows are loaded, unless `rows` says otherwise. */
export function batch(after: number, events: Event[], seq = after + events.length, rows?: RowRange): Batch {
  const all = { first: 0, end: 1_000_000, total: 1_000_000, nContinued: 0, requestId: 1 };
  return { sessionId: 's1', after, seq, rows: rows ?? all, events };
}

export function paragraph(text: string): Block {
  return { type: 'paragraph', spans: [{ type: 'text', text }] };
}

export function code(...lines: string[]): Block {
  return { type: 'code', language: 'rust', lines: lines.map(codeLine) };
}

function item(id: ItemId, body: Item['body'], parent: ItemId | null = null): Item {
  const row = nextRow++;
  return { id, parent, row, nr: parent === null ? 0 : row + 1, at: 1, body };
}

export function text(id: ItemId, ...blocks: Block[]): Item {
  return item(id, { type: 'text', blocks, streaming: true });
}

export function prompt(id: ItemId, state: 'queued' | 'sent' | 'done' | 'held' = 'sent'): Item {
  return item(id, { type: 'prompt', text: id, nImages: 0, nDocuments: 0, state });
}

export function call(id: ItemId, icon: ToolIcon, parent: ItemId | null = null): Item {
  return item(id, tool(icon, 'Did', id, { type: 'json', input: '{}', output: whole([]) }), parent);
}
