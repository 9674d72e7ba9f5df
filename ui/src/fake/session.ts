// A fake session: applies every change to its snapshot and emits it as a batch of one event.

import type {
  Block,
  Body,
  ChangedFile,
  CodeLine,
  Event,
  Item,
  ItemId,
  PermissionRequest,
  RequestId,
  Resolution,
  Session,
  Status,
  Todo,
} from '../lib/bindings/api';

type Of<Type extends Body['type']> = Extract<Body, { type: Type }>;

let nextItem = 1;

export class FakeSession {
  facts: Session;
  items: Item[] = [];
  files: ChangedFile[] = [];
  tasks: Todo[] = [];
  prompts: string[] = [];
  seq = 0;
  lastEventAt = Date.now();
  nRows = 0;
  onevents: (after: number, events: Event[]) => void = () => {};
  /** Runs once, when a window first subscribes. */
  play?: ((session: FakeSession) => void) | undefined;
  /** Ends the current turn. */
  #turn: AbortController | null = null;
  #resolved = new Map<RequestId, (resolution: Resolution) => void>();

  constructor(facts: Session) {
    this.facts = facts;
  }

  emit(...events: Event[]): void {
    const after = this.seq;
    this.seq += events.length;
    this.lastEventAt = Date.now();
    this.onevents(after, events);
  }

  patch(facts: Partial<Session>): void {
    const session = { changedAt: Date.now(), ...facts };
    this.facts = { ...this.facts, ...session };
    this.emit({ type: 'sessionChanged', session });
  }

  status(status: Status): void {
    this.patch({ status });
  }

  add(body: Body, parent: ItemId | null = null, id: ItemId = `i${nextItem++}`): ItemId {
    const row = this.#rowFor(body, parent);
    const nr = this.items.filter((known) => known.row === row).length;
    const item: Item = { id, parent, row, nr, at: Date.now(), body };
    this.items.push(item);
    this.emit({ type: 'itemAdded', item });
    this.#learn(item);
    return id;
  }

  /**
   * Assigns rows as the engine does: consecutive reads and searches share a row, so do consecutive changes to the task
   * list, and a subagent's items are in the row of its call.
   */
  #rowFor(body: Body, parent: ItemId | null): number {
    const call = this.items.find((item) => item.id === parent);
    if (call !== undefined) return call.row;
    const last = this.items.findLast((item) => item.parent === null);
    const fold = foldOf(body);
    if (last !== undefined && fold !== null && foldOf(last.body) === fold) return last.row;
    return this.nRows++;
  }

  #learn({ id, row, body }: Item): void {
    if (body.type === 'prompt') this.prompts.push(body.text);
    if (body.type !== 'toolCall') return;
    const { detail } = body;
    if (detail.type === 'todos') {
      this.tasks = detail.todos;
      this.emit({ type: 'tasksChanged', tasks: this.tasks });
    }
    if (detail.type === 'edit' && body.state === 'succeeded') {
      const known = this.files.find((file) => file.path === detail.path);
      const added = (known?.added ?? 0) + detail.added;
      const removed = (known?.removed ?? 0) + detail.removed;
      const file = { path: detail.path, added, removed, itemId: id, row };
      this.files = [...this.files.filter((one) => one !== known), file];
      this.emit({ type: 'fileChanged', file });
    }
  }

  /** Changes an item's body, in part or completely. */
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

  /** Opens a permission request and waits for the answer. */
  ask(request: PermissionRequest, what: string, signal?: AbortSignal): Promise<Resolution> {
    const answered = new Promise<Resolution>((resolve) => this.#resolved.set(request.id, resolve));
    signal?.addEventListener('abort', () =>
      this.resolve(request.id, { type: 'withdrawn', reason: 'The turn was interrupted' }),
    );
    const status: Status = { type: 'needsInput', what };
    this.facts = { ...this.facts, requests: [...this.facts.requests, request], status };
    this.emit({ type: 'permissionRequested', request }, { type: 'sessionChanged', session: { status } });
    return answered;
  }

  /** Resolves a request; `false` if it is not open. */
  resolve(requestId: RequestId, resolution: Resolution): boolean {
    if (!this.facts.requests.some((request) => request.id === requestId)) return false;
    const requests = this.facts.requests.filter((request) => request.id !== requestId);
    const status: Status = requests.length === 0 ? { type: 'working', activity: 'Working' } : this.facts.status;
    this.facts = { ...this.facts, requests, status };
    this.emit({ type: 'permissionResolved', requestId, resolution }, { type: 'sessionChanged', session: { status } });
    this.#resolved.get(requestId)?.(resolution);
    this.#resolved.delete(requestId);
    return true;
  }

  /** Starts a turn; returns the signal that ends it early. */
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

function foldOf(body: Body): 'lookups' | 'tasks' | null {
  if (body.type !== 'toolCall') return null;
  if (body.icon === 'todo') return 'tasks';
  return body.icon === 'read' || body.icon === 'search' ? 'lookups' : null;
}
