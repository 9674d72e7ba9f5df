// Imperative drawing of code lines. A long answer has tens of thousands of tokens, and a component's bookkeeping costs
// several times as much as the element.

import type { CodeLine } from '../bindings/api';
import { breakable } from '../kit/breakable';
import { RIGHT_TO_LEFT } from './direction';

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
  // From element to element: after a change, an index or a length of `children` is counted from the first one again.
  let drawn = code.firstElementChild;
  for (let i = 0; i < kept; i += 1) {
    const line = after[i];
    const next: Element | null = drawn?.nextElementSibling ?? null;
    if (line !== undefined && line !== before[i]) drawn?.replaceWith(drawLine(line, wrap));
    drawn = next;
  }
  for (let n = before.length - after.length; n > 0; n -= 1) code.lastElementChild?.remove();
  for (const line of after.slice(kept)) code.append(drawLine(line, wrap));
}

function drawLine(line: CodeLine, wrap: boolean): HTMLElement {
  const drawn = element('line');
  // Its tokens stay in the order of the code: such letters reorder what is around them.
  if (line.tokens.some(({ text }) => RIGHT_TO_LEFT.test(text))) drawn.classList.add('isolated');
  for (const { text, style } of line.tokens) {
    const runs = wrap ? breakable(text) : [text];
    const token = style === 'plain' && !drawn.classList.contains('isolated') ? drawn : element(style);
    for (const run of runs) token.append(run);
    if (token !== drawn) drawn.append(token);
  }
  drawn.append('\n');
  return drawn;
}

function element(name: string): HTMLElement {
  const span = document.createElement('span');
  span.className = name;
  return span;
}
