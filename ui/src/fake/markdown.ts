// A small Markdown parser for the fake host's script. The engine makes the real documents.

import type { Block, CodeLine, Span, Token } from '../lib/bindings/api';

export function document(source: string): Block[] {
  const blocks: Block[] = [];
  const lines = source.split('\n');
  let i = 0;
  while (i < lines.length) {
    const line = lines[i] ?? '';
    const fence = /^```(\w*)/.exec(line);
    const heading = /^(#{1,4}) (.*)/.exec(line);
    if (line.trim() === '') {
      i += 1;
    } else if (fence) {
      const end = lines.indexOf('```', i + 1);
      const body = lines.slice(i + 1, end < 0 ? undefined : end);
      blocks.push({ type: 'code', language: fence[1] || null, lines: body.map(codeLine) });
      i = end < 0 ? lines.length : end + 1;
    } else if (heading) {
      blocks.push({ type: 'heading', level: heading[1]?.length ?? 1, spans: spans(heading[2] ?? '') });
      i += 1;
    } else if (/^(- |\d+\. )/.test(line)) {
      const ordered = /^(\d+)\. /.exec(line);
      const items: string[] = [];
      while (/^(- |\d+\. )/.test(lines[i] ?? '')) items.push((lines[i++] ?? '').replace(/^(- |\d+\. )/, ''));
      blocks.push({
        type: 'list',
        start: ordered ? Number(ordered[1]) : null,
        items: items.map((text) => ({ checked: null, blocks: [{ type: 'paragraph', spans: spans(text) }] })),
      });
    } else if (line.startsWith('|')) {
      const rows: string[][] = [];
      while ((lines[i] ?? '').startsWith('|')) {
        rows.push(
          (lines[i++] ?? '')
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        );
      }
      const [head = [], , ...body] = rows;
      const cells = (row: string[]) => row.map((cell) => ({ spans: spans(cell) }));
      blocks.push({
        type: 'table',
        align: head.map((_, column) => (column === 0 ? 'left' : 'right')),
        head: cells(head),
        rows: body.map(cells),
      });
    } else {
      // The first line belongs to the paragraph even if it looks like the start of another block: a half-typed “##”
      // while a heading streams is neither a heading nor blank.
      const paragraph = [line];
      i += 1;
      while ((lines[i] ?? '').trim() !== '' && !/^(```|#|- )/.test(lines[i] ?? '')) paragraph.push(lines[i++] ?? '');
      blocks.push({ type: 'paragraph', spans: spans(paragraph.join(' ')) });
    }
  }
  return blocks;
}

function spans(text: string): Span[] {
  const found: Span[] = [];
  let rest = text;
  while (rest !== '') {
    const match = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]+)\)/.exec(rest);
    if (match === null) {
      found.push({ type: 'text', text: rest });
      break;
    }
    if (match.index > 0) found.push({ type: 'text', text: rest.slice(0, match.index) });
    const [whole, code, strong, emphasis, label, url] = match;
    if (code !== undefined) found.push({ type: 'code', text: code });
    else if (strong !== undefined) found.push({ type: 'strong', spans: spans(strong) });
    else if (emphasis !== undefined) found.push({ type: 'emphasis', spans: spans(emphasis) });
    else if (url !== undefined) {
      found.push({ type: 'link', url, host: new URL(url).host, spans: [{ type: 'text', text: label ?? url }] });
    }
    rest = rest.slice(match.index + whole.length);
  }
  return found;
}

const WORDS: [RegExp, Token['style']][] = [
  [/^\/\/.*/, 'comment'],
  [/^"[^"]*"/, 'string'],
  [/^(pub|fn|self|let|use|impl|struct|const|match|mod)\b/, 'keyword'],
  [/^(Self|Money|Decimal|u32|String|Vec)\b/, 'type'],
  [/^[a-z_]\w*(?=\()/, 'function'],
  [/^\d[\d_.]*/, 'number'],
];

export function codeLine(text: string): CodeLine {
  const tokens: Token[] = [];
  let rest = text;
  const push = (piece: string, style: Token['style']) => {
    const last = tokens.at(-1);
    if (last?.style === style) last.text += piece;
    else tokens.push({ text: piece, style });
    rest = rest.slice(piece.length);
  };
  while (rest !== '') {
    const word = WORDS.find(([pattern]) => pattern.test(rest));
    if (word) push(word[0].exec(rest)?.[0] ?? rest, word[1]);
    else push(/^(\w+|\W)/.exec(rest)?.[0] ?? rest, 'plain');
  }
  return { tokens };
}

/** One line of terminal output in one style. */
export function outputLine(text: string, style: Token['style'] = 'plain'): CodeLine {
  return { tokens: [{ text, style }] };
}
