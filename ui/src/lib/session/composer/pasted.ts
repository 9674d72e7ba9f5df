// Long pasted texts, which become attachments of the prompt, and the words on attachments.

import type { Attachment, CodeLine } from '../../bindings/api';
import { bytes, count, plural } from '../../kit/amounts';
import { escapeOf, oddityOf } from '../../text/reveal';
import { isImage, isText } from '../attachments';

interface Limit {
  lines: number;
  characters: number;
}

/** A longer pasted text becomes an attachment: it would bury the words that the user writes. */
const MOST_PASTED: Limit = { lines: 40, characters: 4_000 };

/**
 * The longest text of the box. In WebKitGTK (2.50) a key takes 0.04 s in 200 lines of 50 characters, 0.13 s in 1,000 and
 * 3 s in 10,000.
 */
const MOST_IN_BOX: Limit = { lines: 1_000, characters: 50_000 };

/** Bytes of an attached text, as the engine limits them. */
const MOST_BYTES = 1024 * 1024;

/** The lines and characters that are drawn together. A line of a megabyte would be laid out at once. */
const SLICE: Limit = { lines: 200, characters: 20_000 };

/** The name of a pasted text, until another one of the draft has it. */
const NAME = 'Pasted text';

const END = /\r\n|\r|\n/;

function linesOf(text: string): string[] {
  const lines = text.split(END);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

function isOver(text: string, most: Limit): boolean {
  if (text.length > most.characters) return true;
  const lines = text.split(END, most.lines + 2);
  return lines.length - (lines.at(-1) === '' ? 1 : 0) > most.lines;
}

/** Whether the box can have this text and stay quick. */
export const fitsBox = (text: string) => !isOver(text, MOST_IN_BOX);

/** Whether a pasted text becomes an attachment. `asText`: the user asked for it in the box, which has `others` already. */
export function isAttached(text: string, others: string, asText: boolean): boolean {
  if (text.trim() === '') return false;
  return isOver(text, asText ? MOST_IN_BOX : MOST_PASTED) || !fitsBox(others + text);
}

/** Why a pasted text cannot be attached, in words; `null` if it can. */
export function tooLarge(text: string): string | null {
  if (new TextEncoder().encode(text).length <= MOST_BYTES) return null;
  return 'The pasted text is larger than 1 MB. Save it as a file and write its path into the prompt.';
}

/** A name that no other attachment of the draft has. */
export function nameOfPasted(others: readonly { name: string }[]): string {
  const taken = new Set(others.map(({ name }) => name));
  let name = NAME;
  for (let nr = 2; taken.has(name); nr += 1) name = `${NAME} ${nr}`;
  return name;
}

/** “10,000 lines”, or “5,000 characters” of a single line. */
export function amountOf(text: string): string {
  const { length } = linesOf(text);
  return length > 1 ? plural(length, 'line') : `${count(text.length)} characters`;
}

/** The first words of a text that are shown beside its name, in characters. */
const MOST_WORDS = 40;

/** What changes the direction of the words after it is written out. */
const directed = (char: string) => (oddityOf(char) === 'direction' ? escapeOf(char) : char);

/** The first words of a text, to tell it from others; empty if it has none. */
function firstWords(text: string): string {
  const words = Array.from(text.slice(0, 1_000).trim().split(END, 1)[0] ?? '', directed);
  return words.length <= MOST_WORDS ? words.join('') : `${words.slice(0, MOST_WORDS).join('').trimEnd()}…`;
}

/** What is known of an attachment besides its name: lines and first words, or its kind and size. */
export function factsOf(attachment: Attachment): string[] {
  const { data } = attachment;
  if (isText(attachment)) {
    const words = firstWords(data);
    return [amountOf(data), words === '' ? '' : `“${words}”`];
  }
  return [isImage(attachment) ? '' : 'PDF', data === '' ? '' : bytes(Math.floor((data.length * 3) / 4))];
}

/** The lines of a text in parts that are drawn one by one. */
export function slicesOf(text: string): CodeLine[][] {
  const slices: CodeLine[][] = [];
  let slice: CodeLine[] = [];
  let room = SLICE.characters;
  const close = () => {
    if (slice.length > 0) slices.push(slice);
    slice = [];
    room = SLICE.characters;
  };
  for (const line of linesOf(text)) {
    let at = 0;
    do {
      if (slice.length === SLICE.lines || (slice.length > 0 && line.length - at > room)) close();
      const part = line.slice(at, at + SLICE.characters);
      slice.push({ tokens: [{ text: part, style: 'plain' }] });
      room -= part.length;
      at += SLICE.characters;
    } while (at < line.length);
  }
  close();
  return slices;
}
