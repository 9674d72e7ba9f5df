// Imperative drawing of text spans. A long answer has thousands of them, and a component's bookkeeping costs several
// times as much as the element.

import type { Span } from '../bindings/api';
import { breakable } from '../kit/breakable';

/** Whether the span includes no link, file or image, which need a component. */
export function isPlain(span: Span): boolean {
  if (span.type === 'link' || span.type === 'file' || span.type === 'image') return false;
  return !('spans' in span) || span.spans.every(isPlain);
}

/**
 * Changes the child nodes of `parent` from `before` to `after`, one node per span. Links, files and images are drawn as text.
 * A span that is the same object is not touched.
 */
export function drawSpans(parent: Element, before: readonly Span[], after: readonly Span[]): void {
  const kept = Math.min(before.length, after.length);
  // From node to node: after a change, an index or a length of `childNodes` is counted from the first one again.
  let drawn = parent.firstChild;
  for (let i = 0; i < kept; i += 1) {
    const [span, node] = [after[i], drawn];
    drawn = node?.nextSibling ?? null;
    const was = before[i];
    if (span === undefined || was === undefined || areEqual(was, span)) continue;
    if (span.type === 'text' && node instanceof Text && breakable(span.text).length === 1) rewrite(node, span.text);
    else node?.replaceWith(drawSpan(span));
  }
  for (let n = before.length - after.length; n > 0; n -= 1) parent.lastChild?.remove();
  for (const span of after.slice(kept)) parent.append(drawSpan(span));
}

/**
 * Changes the end of a text that differs. The user's selection before it is kept: a new value of `data` would collapse it
 * to the start.
 */
function rewrite(node: Text, text: string): void {
  const { data } = node;
  const most = Math.min(data.length, text.length);
  let same = 0;
  while (same < most && data[same] === text[same]) same += 1;
  node.replaceData(same, data.length - same, text.slice(same));
}

/** Whether two spans are drawn alike. A paragraph that grows arrives as new objects. */
function areEqual(one: Span, other: Span): boolean {
  if (one === other) return true;
  if (one.type !== other.type) return false;
  if ('spans' in one && 'spans' in other) {
    const { spans } = other;
    return one.spans.length === spans.length && one.spans.every((inner, i) => areEqual(inner, spans[i] ?? inner));
  }
  if ('text' in one && 'text' in other) return one.text === other.text;
  if (one.type === 'footnoteRef' && other.type === 'footnoteRef') return one.label === other.label;
  return one.type === 'break';
}

function drawSpan(span: Span): Node {
  switch (span.type) {
    case 'text':
      return drawText(span.text);
    case 'code':
      return element('code', [drawText(span.text)]);
    case 'raw':
      return element('span', [drawText(span.text)], 'raw');
    case 'emphasis':
      return element('em', span.spans.map(drawSpan));
    case 'strong':
      return element('strong', span.spans.map(drawSpan));
    case 'strike':
      return element('del', span.spans.map(drawSpan));
    case 'footnoteRef':
      return element('sup', [span.label]);
    case 'break':
      return element('br', []);
    case 'link':
    case 'file':
      return element('span', span.spans.map(drawSpan));
    case 'image':
      return drawText(span.alt);
  }
}

/** One node, with break opportunities in words that are longer than a line. */
function drawText(text: string): Node {
  const parts = breakable(text);
  return parts.length === 1 ? document.createTextNode(text) : element('span', parts);
}

function element(tag: string, children: readonly (Node | string)[], kind?: string): HTMLElement {
  const made = document.createElement(tag);
  if (kind !== undefined) made.className = kind;
  for (const child of children) made.append(child);
  return made;
}
