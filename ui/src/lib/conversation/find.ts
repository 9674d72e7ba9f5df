// Finding words in a whole conversation, whether drawn or not.

import type { Body, CodeLine } from '../bindings/api';
import { blocksText, codeText, diffText } from '../document/markdown';
import type { ItemState } from '../state/item.svelte';

export interface Found {
  id: string;
  /** The words stand in what has to be unfolded first. */
  inside: boolean;
}

/** What can be read of an item at a glance, and what is unfolded. */
interface Words {
  shown: string;
  inside: string;
}

/** A body is never changed in place, so its words are made once. */
const known = new WeakMap<Body, Words>();

/** The items that hold `query`, in the order of the conversation. Upper and lower case count as the same. */
export function findItems(items: Iterable<ItemState>, query: string): Found[] {
  const wanted = query.toLowerCase();
  const found: Found[] = [];
  if (wanted.trim() === '') return found;
  for (const { id, body } of items) {
    const words = wordsOf(body);
    if (words.shown.includes(wanted)) found.push({ id, inside: false });
    else if (words.inside.includes(wanted)) found.push({ id, inside: true });
  }
  return found;
}

function wordsOf(body: Body): Words {
  let words = known.get(body);
  if (words === undefined) {
    const { shown, inside } = read(body);
    words = { shown: shown.toLowerCase(), inside: inside.toLowerCase() };
    known.set(body, words);
  }
  return words;
}

function read(body: Body): Words {
  switch (body.type) {
    case 'prompt':
      return { shown: body.text, inside: '' };
    case 'text':
      return { shown: blocksText(body.blocks), inside: '' };
    case 'thinking':
      return { shown: '', inside: body.text };
    case 'notice':
      return { shown: body.text, inside: body.detail ?? '' };
    case 'turnEnd':
      return { shown: body.words, inside: '' };
    case 'toolCall':
      return { shown: `${body.verb} ${body.subject} ${body.note ?? ''}`, inside: detailText(body.detail) };
  }
}

function detailText(detail: Extract<Body, { type: 'toolCall' }>['detail']): string {
  const joined = (head: string, lines: readonly CodeLine[]) => `${head}\n${codeText(lines)}`;
  switch (detail.type) {
    case 'command':
      return joined(detail.command, detail.output);
    case 'edit':
      return diffText(detail);
    case 'text':
      return codeText(detail.lines);
    case 'todos':
      return detail.todos.map((todo) => todo.text).join('\n');
    case 'json':
      return joined(detail.input, detail.output);
  }
}
