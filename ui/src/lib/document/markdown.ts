// Markdown source of a document.

import type { Block, CodeLine, Diff, Span } from '../bindings/api';
import { diffLines } from './diffLines';

export function codeText(lines: readonly CodeLine[]): string {
  return lines.map((line) => line.tokens.map((token) => token.text).join('')).join('\n');
}

export function blocksText(blocks: readonly Block[]): string {
  return blocks.map(blockText).join('\n\n');
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'paragraph':
      return spansText(block.spans);
    case 'heading':
      return `${'#'.repeat(block.level)} ${spansText(block.spans)}`;
    case 'code':
      return fenced(block.language ?? '', codeText(block.lines));
    case 'quote':
      return indented(blocksText(block.blocks), '> ', '> ');
    case 'list':
      return block.items
        .map((item, i) => {
          const bullet = block.start === null ? '- ' : `${block.start + i}. `;
          const check = item.checked === null ? '' : item.checked ? '[x] ' : '[ ] ';
          return indented(check + blocksText(item.blocks), bullet, ' '.repeat(bullet.length));
        })
        .join('\n');
    case 'table': {
      const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
      const rules = block.align.map((align) => ({ none: '---', left: ':--', center: ':-:', right: '--:' })[align]);
      const body = block.rows.map((cells) => row(cells.map((cell) => spansText(cell.spans))));
      return [row(block.head.map((cell) => spansText(cell.spans))), row(rules), ...body].join('\n');
    }
    case 'rule':
      return '---';
    case 'footnote':
      return `[^${block.label}]: ${blocksText(block.blocks)}`;
  }
}

export function spansText(spans: readonly Span[]): string {
  return spans
    .map((span) => {
      switch (span.type) {
        case 'text':
        case 'raw':
          return span.text;
        case 'code': {
          const fence = span.text.includes('`') ? '``' : '`';
          return fence + span.text + fence;
        }
        case 'emphasis':
          return `*${spansText(span.spans)}*`;
        case 'strong':
          return `**${spansText(span.spans)}**`;
        case 'strike':
          return `~~${spansText(span.spans)}~~`;
        case 'link':
          return `[${spansText(span.spans)}](${span.url})`;
        case 'file':
          return span.destination === null ? spansText(span.spans) : `[${spansText(span.spans)}](${span.destination})`;
        case 'image':
          return `![${span.alt}](${span.url})`;
        case 'footnoteRef':
          return `[^${span.label}]`;
        case 'break':
          return '  \n';
      }
    })
    .join('');
}

export function diffText(diff: Diff): string {
  const sign = { context: ' ', added: '+', removed: '-' };
  return diff.hunks
    .map((hunk) =>
      diffLines(hunk)
        .map((line) => sign[line.kind] + line.parts.map((part) => part.text).join(''))
        .join('\n'),
    )
    .join('\n⋯\n');
}

export function fenced(language: string, text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

export function indented(text: string, first: string, rest: string): string {
  return text
    .split('\n')
    .map((line, i) => (i === 0 ? first : rest) + line)
    .join('\n');
}
