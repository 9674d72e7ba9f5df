// A session that lives in the browser: every change goes into its snapshot and out as a batch of one event.

import type {
  Batch,
  Block,
  Body,
  CodeLine,
  Event,
  Item,
  ItemId,
  PermissionRequest,
  RequestId,
  Resolution,
  Session,
  Snapshot,
  Status,
} from '../../bindings/api';

type Of<Type extends Body['type']> = Extract<Body, { type: Type }>;

let nextItem = 1;

export class FakeSession {
  facts: Session;
  items: Item[] = [];
  seq = 0;
  onbatch: (batch: Batch) => void = () => {};
  /** Runs once the session is looked at. */
  play?: ((session: FakeSession) => void) | undefined;
  /** Ends the turn that runs. */
  #turn: AbortController | null = null;
  #resolved = new Map<RequestId, (resolution: Resolution) => void>();

  constructor(facts: Session) {
    this.facts = facts;
  }

  snapshot(): Snapshot {
    return { seq: this.seq, session: this.facts, items: this.items };
  }

  emit(...events: Event[]): void {
    const after = this.seq;
    this.seq += events.length;
    this.onbatch({ sessionId: this.facts.id, after, seq: this.seq, events });
  }

  patch(facts: Partial<Session>): void {
    this.facts = { ...this.facts, changedAt: Date.now(), ...facts };
    this.emit({ type: 'sessionChanged', session: this.facts });
  }

  status(status: Status): void {
    this.patch({ status });
  }

  add(body: Body, parent: ItemId | null = null, id: ItemId = `i${nextItem++}`): ItemId {
    const item: Item = { id, parent, at: Date.now(), body };
    this.items.push(item);
    this.emit({ type: 'itemAdded', item });
    return id;
  }

  /** Changes some of an item's body, or all of it. */
  change(id: ItemId, change: Body | Partial<Of<'prompt'>> | Partial<Of<'text'>>): void {
    const item = this.items.find((known) => known.id === id);
    if (item === undefined) return;
    item.body = { ...item.body, ...change } as Body;
    this.emit({ type: 'itemChanged', item });
  }

  blocks(itemId: ItemId, keep: number, blocks: Block[]): void {
    const item = this.items.find((known) => known.id === itemId);
    if (item?.body.type !== 'text') return;
    item.body = { ...item.body, blocks: [...item.body.blocks.slice(0, keep), ...blocks] };
    this.emit({ type: 'blocksChanged', itemId, keep, blocks });
  }

  code(itemId: ItemId, keep: number, lines: CodeLine[]): void {
    const item = this.items.find((known) => known.id === itemId);
    const last = item?.body.type === 'text' ? item.body.blocks.at(-1) : undefined;
    if (last?.type !== 'code') return;
    last.lines = [...last.lines.slice(0, keep), ...lines];
    this.emit({ type: 'codeGrew', itemId, keep, lines });
  }

  /** Asks, and waits for the answer. */
  ask(request: PermissionRequest, what: string, signal?: AbortSignal): Promise<Resolution> {
    const answered = new Promise<Resolution>((resolve) => this.#resolved.set(request.id, resolve));
    signal?.addEventListener('abort', () =>
      this.resolve(request.id, { type: 'withdrawn', reason: 'The turn was interrupted' }),
    );
    this.facts = {
      ...this.facts,
      requests: [...this.facts.requests, request],
      status: { type: 'needsInput', what },
    };
    this.emit({ type: 'permissionRequested', request }, { type: 'sessionChanged', session: this.facts });
    return answered;
  }

  /** Ends a request; `false` if it is not open. */
  resolve(requestId: RequestId, resolution: Resolution): boolean {
    if (!this.facts.requests.some((request) => request.id === requestId)) return false;
    const requests = this.facts.requests.filter((request) => request.id !== requestId);
    const status: Status = requests.length === 0 ? { type: 'working', activity: 'Working' } : this.facts.status;
    this.facts = { ...this.facts, requests, status };
    this.emit({ type: 'permissionResolved', requestId, resolution }, { type: 'sessionChanged', session: this.facts });
    this.#resolved.get(requestId)?.(resolution);
    this.#resolved.delete(requestId);
    return true;
  }

  /** Begins a turn and hands out what ends it early. */
  begin(): AbortSignal {
    this.#turn = new AbortController();
    return this.#turn.signal;
  }

  end(): void {
    this.#turn = null;
  }

  abort(): boolean {
    if (this.#turn === null) return false;
    this.#turn.abort();
    return true;
  }
}
