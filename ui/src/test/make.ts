// Short ways to write down data for tests.

import type { Batch, Block, Event, Item, ItemId, Session, Snapshot, ToolIcon } from '../lib/bindings/api';
import { emptySession } from '../lib/host/fake/facts';
import { codeLine } from '../lib/host/fake/markdown';
import { tool } from '../lib/host/fake/script';

export function session(facts: Partial<Session> = {}): Session {
  return { ...emptySession('s1', 'A session'), createdAt: 1, changedAt: 1, ...facts };
}

export function snapshot(seq: number, items: Item[] = [], facts: Partial<Session> = {}): Snapshot {
  return { seq, session: session(facts), items };
}

export function batch(after: number, events: Event[], seq = after + events.length): Batch {
  return { sessionId: 's1', after, seq, events };
}

export function paragraph(text: string): Block {
  return { type: 'paragraph', spans: [{ type: 'text', text }] };
}

export function code(...lines: string[]): Block {
  return { type: 'code', language: 'rust', lines: lines.map(codeLine) };
}

export function text(id: ItemId, ...blocks: Block[]): Item {
  return { id, parent: null, at: 1, body: { type: 'text', blocks, streaming: true } };
}

export function prompt(id: ItemId, state: 'queued' | 'sent' | 'done' | 'held' = 'sent'): Item {
  return { id, parent: null, at: 1, body: { type: 'prompt', text: id, nImages: 0, state } };
}

export function call(id: ItemId, icon: ToolIcon, parent: ItemId | null = null): Item {
  return { id, parent, at: 1, body: tool(icon, 'Did', id, { type: 'json', input: '{}', output: [] }) };
}
