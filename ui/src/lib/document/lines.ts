// Imperative drawing of code lines. A long answer has tens of thousands of tokens, and a component's bookkeeping costs
// several times as much as the element.

import type { CodeLine } from '../bindings/api';
import { breakable } from '../text/breakable';

/**
 * Changes the lines of `code` from `before` to `after`. A line that is the same object is not touched, even if lines
 * before it were removed. With `wrap`, words that are longer than a line may break.
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
