// Lines of code drawn by hand: there are tens of thousands of tokens in a long answer, and a component's bookkeeping
// costs several times what the element does.

import type { CodeLine } from '../bindings/api';
import { breakable } from '../text/breakable';

/**
 * Makes the lines of `code`, which shows `before`, those of `after`. A line that is the same object is left alone, though
 * lines before it have gone. Lines that wrap may break in words that are longer than any line.
 */
export function drawLines(code: Element, before: readonly CodeLine[], after: readonly CodeLine[], wrap = false): void {
  const [first] = after;
  const gone = first === undefined || first === before[0] ? -1 : before.indexOf(first);
  if (gone > 0) {
    for (let i = 0; i < gone; i += 1) code.firstElementChild?.remove();
    before = before.slice(gone);
  }
  const kept = Math.min(before.length, after.length);
  for (let i = 0; i < kept; i += 1) {
    const line = after[i];
    if (line !== undefined && line !== before[i]) code.children[i]?.replaceWith(drawLine(line, wrap));
  }
  while (code.children.length > after.length) code.lastElementChild?.remove();
  code.append(...after.slice(kept).map((line) => drawLine(line, wrap)));
}

function drawLine(line: CodeLine, wrap: boolean): HTMLElement {
  const drawn = element('line');
  for (const { text, style } of line.tokens) {
    const runs = wrap ? breakable(text) : [text];
    if (style === 'plain') drawn.append(...runs);
    else {
      const token = element(style);
      token.append(...runs);
      drawn.append(token);
    }
  }
  drawn.append('\n');
  return drawn;
}

function element(name: string): HTMLElement {
  const span = document.createElement('span');
  span.className = name;
  return span;
}
