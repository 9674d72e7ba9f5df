// Highlights search hits in the drawn text without changing its elements.

/**
 * The maximum number of highlighted hits, and of hits that stand out. The browser keeps every range up to date, and a
 * single letter occurs in almost every word.
 */
const MOST = 2_000;

/** Highlights `query` in `root`; the hits in `here` stand out. An empty query removes all highlights. */
export function markWords(root: Element, query: string, here: readonly Element[]): void {
  if (!('highlights' in CSS)) return;
  const everywhere: Range[] = [];
  const there: Range[] = [];
  const wanted = query.toLowerCase();
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null && wanted.trim() !== ''; node = texts.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      // A lower-case text can be longer than its original.
      if (at + wanted.length > (node.nodeValue?.length ?? 0)) break;
      const hits = here.some((element) => element.contains(node)) ? there : everywhere;
      if (hits.length >= MOST) break;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      hits.push(range);
    }
  }
  CSS.highlights.set('found', new Highlight(...everywhere));
  CSS.highlights.set('found-here', new Highlight(...there));
}
