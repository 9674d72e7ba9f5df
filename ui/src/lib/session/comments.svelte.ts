// Comments on lines of diffs. They are collected in the draft of a session and sent as one prompt.

import type { DiffKind, DiffLine } from '../bindings/api';
import { fenced } from '../document/markdown';
import { plural } from '../kit/amounts';
import { plainPath } from '../text/reveal';

const KEY = 'deskbell.comments.';
/** Maximum number of lines that a comment quotes, and of characters of each. */
const MOST_LINES = 200;
const MOST_CHARACTERS = 1_000;
const SIGN: Record<DiffKind, string> = { context: ' ', added: '+', removed: '-' };

/** A line of a diff as a comment quotes it. */
interface QuotedLine {
  kind: DiffKind;
  oldLine: number | null;
  newLine: number | null;
  text: string;
}

export interface LineComment {
  id: number;
  path: string;
  /** The lines, as they were when the comment was begun. */
  lines: readonly QuotedLine[];
  /** Further lines, which are not quoted. */
  nMore: number;
  text: string;
}

let nextId = 1;

export class LineComments {
  #all = $state.raw<readonly LineComment[]>([]);
  #removed = $state.raw<{ comment: LineComment; at: number } | null>(null);
  /** The texts of comments before they were edited. */
  #before = new Map<number, string>();
  #key: string;
  #storage: Storage;

  constructor(key: string, storage: Storage) {
    this.#key = KEY + key;
    this.#storage = storage;
    this.#all = read(storage.getItem(this.#key));
  }

  get all(): readonly LineComment[] {
    return this.#all;
  }

  /** The comment that was removed last, until others are sent. */
  get removed(): LineComment | null {
    return this.#removed?.comment ?? null;
  }

  /** Begins a comment without a text. It is kept from its first character on. Returns its id. */
  begin(path: string, lines: readonly DiffLine[]): number {
    const comment: LineComment = {
      id: nextId++,
      path,
      lines: lines.slice(0, MOST_LINES).map(quoted),
      nMore: Math.max(0, lines.length - MOST_LINES),
      text: '',
    };
    this.#all = [...this.#all, comment];
    return comment.id;
  }

  /** Remembers the text of a comment that is about to be edited: an emptied comment can be brought back. */
  edit(id: number): void {
    const text = this.#all.find((one) => one.id === id)?.text ?? '';
    if (text.trim() !== '') this.#before.set(id, text);
  }

  write(id: number, text: string): void {
    this.#set(this.#all.map((one) => (one.id === id ? { ...one, text } : one)));
  }

  remove(id: number): void {
    const at = this.#all.findIndex((one) => one.id === id);
    const found = this.#all[at];
    if (found === undefined) return;
    const comment = this.#withText(found);
    this.#before.delete(id);
    if (!isEmpty(comment)) this.#removed = { comment, at };
    this.#set(this.#all.filter((one) => one !== found));
  }

  /** Brings back the comment that was removed last. */
  undoRemove(): void {
    if (this.#removed === null) return;
    const { comment, at } = this.#removed;
    this.#removed = null;
    this.#set([...this.#all.slice(0, at), comment, ...this.#all.slice(at)]);
  }

  /** Removes comments without a text. One that had a text before it was edited can be brought back. */
  dropEmpty(): void {
    for (const { id } of this.#all.filter(isEmpty)) this.remove(id);
    this.#before.clear();
  }

  /** Moves all comments to those of another draft. */
  moveTo(heir: LineComments): void {
    const all = this.#all.map((one) => this.#withText(one)).filter((one) => !isEmpty(one));
    this.#removed = null;
    this.#before.clear();
    if (this.#all.length > 0) this.#set([]);
    if (all.length > 0) heir.#set([...heir.#all, ...all]);
  }

  /** Removes these comments, unless their text has changed since. */
  settle(sent: readonly LineComment[]): void {
    this.#removed = null;
    this.#set(this.#all.filter((one) => !sent.some(({ id, text }) => id === one.id && text === one.text)));
  }

  /** With the text that it had before it was emptied. */
  #withText(one: LineComment): LineComment {
    return isEmpty(one) ? { ...one, text: this.#before.get(one.id) ?? '' } : one;
  }

  #set(all: readonly LineComment[]): void {
    this.#all = all;
    // A window that closes while a comment is empty has not removed it.
    const kept = all.map((one) => this.#withText(one)).filter((one) => !isEmpty(one));
    try {
      if (kept.length === 0) this.#storage.removeItem(this.#key);
      else this.#storage.setItem(this.#key, JSON.stringify(kept));
    } catch {
      // As for a draft's text: with full storage the comments live only as long as the window.
    }
  }
}

/** “line 12”, “lines 12–14”; by the file's numbers before the change if all lines were removed. */
export function placeWords({ lines, nMore }: LineComment): string {
  return placeOf(lines, nMore);
}

/** The same for any lines of a diff. */
export function placeOf(lines: readonly Omit<QuotedLine, 'text'>[], nMore = 0): string {
  const isRemoved = lines.every(({ kind }) => kind === 'removed');
  const numbers = lines.flatMap(({ oldLine, newLine }) => (isRemoved ? oldLine : newLine) ?? []);
  const before = isRemoved ? 'removed ' : '';
  const [first, last] = [numbers[0], numbers.at(-1)];
  if (first === undefined || last === undefined) return `${before}${plural(lines.length + nMore, 'line')}`;
  const all = first === last ? `${before}line ${first}` : `${before}lines ${first}–${last}`;
  return nMore > 0 ? `${all} and ${plural(nMore, 'more line')}` : all;
}

/** The quoted lines as text, with the signs of a diff. */
const quoteOf = ({ lines }: LineComment): string => lines.map(({ kind, text }) => SIGN[kind] + text).join('\n');

/** The comments as a prompt; empty if none has a text. */
export function promptOf(comments: readonly LineComment[]): string {
  const parts = comments
    .filter((one) => !isEmpty(one))
    .map(
      (one) => `${code(plainPath(one.path))}, ${placeWords(one)}:\n${fenced('diff', quoteOf(one))}\n${one.text.trim()}`,
    );
  return parts.length === 0 ? '' : ['Comments on the changes of the working tree:', ...parts].join('\n\n');
}

const isEmpty = ({ text }: LineComment) => text.trim() === '';

function quoted({ kind, oldLine, newLine, parts }: DiffLine): QuotedLine {
  const whole = parts.map((part) => part.text).join('');
  // A cut must not leave half of a character.
  const text =
    whole.length <= MOST_CHARACTERS ? whole : `${whole.slice(0, MOST_CHARACTERS).replace(/[\uD800-\uDBFF]$/u, '')}…`;
  return { kind, oldLine, newLine, text };
}

/** Inline code of Markdown, whatever the text contains. */
function code(text: string): string {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return fence + space + text + space + fence;
}

/** Stored comments, with new ids: those of an earlier window may be taken in this one. */
function read(stored: string | null): LineComment[] {
  if (stored === null) return [];
  try {
    const all: unknown = JSON.parse(stored);
    return Array.isArray(all) ? all.filter(isComment).map((one) => ({ ...one, id: nextId++ })) : [];
  } catch {
    return [];
  }
}

function isComment(value: unknown): value is LineComment {
  const one = value as Partial<LineComment> | null;
  const isLine = (line: Partial<QuotedLine> | null) =>
    typeof line?.text === 'string' && Object.hasOwn(SIGN, line.kind ?? '');
  const hasTexts = typeof one?.path === 'string' && typeof one.text === 'string' && typeof one.nMore === 'number';
  return hasTexts && Array.isArray(one.lines) && one.lines.every(isLine);
}
