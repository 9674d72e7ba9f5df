// Search in a whole conversation, as in the engine.

import type { Body, CodeLine, Found, Hit, Item } from '../lib/bindings/api';
import { blocksText, codeText, diffText } from '../lib/document/markdown';

/** The text of an item: the part that is always visible, and the part that is folded. */
interface Words {
  shown: string;
  inside: string;
}

/** Finds the item with this index among those that contain `query`, or the last one. Ignores case. */
export function find(items: readonly Item[], query: string, index: number | null): Found {
  const wanted = query.toLowerCase();
  const hits: Hit[] = [];
  if (wanted.trim() !== '') {
    for (const { id, row, body } of items) {
      const { shown, inside } = read(body);
      const isShown = shown.toLowerCase().includes(wanted);
      if (!isShown && !inside.toLowerCase().includes(wanted)) continue;
      hits.push({ index: hits.length, itemId: id, row, inside: !isShown, part: 0 });
    }
  }
  const count = hits.length;
  return { count, hit: hits.at((index ?? -1) % Math.max(1, count)) ?? null };
}

function read(body: Body): Words {
  switch (body.type) {
    case 'prompt':
    case 'message':
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
      return {
        shown: [body.verb, body.subject, body.originalInput === null ? null : 'edited by you', body.note]
          .filter((words) => words !== null)
          .join(' '),
        inside: detailText(body.detail),
      };
  }
}

function detailText(detail: Extract<Body, { type: 'toolCall' }>['detail']): string {
  const joined = (head: string, lines: readonly CodeLine[]) => `${head}\n${codeText(lines)}`;
  switch (detail.type) {
    case 'command':
      return joined(detail.command, detail.output.lines);
    case 'edit':
      return diffText(detail);
    case 'notebook':
      return `${detail.cell}\n${diffText(detail.diff)}`;
    case 'plan':
      return blocksText(detail.blocks);
    case 'questions':
      return detail.questions
        .flatMap((question) => [question.text, ...question.options.map((option) => option.label), question.ownWords])
        .filter((words) => words !== null)
        .join('\n');
    case 'text':
      return codeText(detail.output.lines);
    case 'todos':
      return detail.todos.map((todo) => todo.text).join('\n');
    case 'json':
      return joined(detail.input, detail.output.lines);
  }
}
