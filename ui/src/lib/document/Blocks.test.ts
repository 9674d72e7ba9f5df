import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import type { Block, Span } from '../bindings/api';
import { draw } from '../../test/draw';
import { code, paragraph } from '../../test/make';
import { codeLine, document as parse } from '../../fake/markdown';
import { EXPLAINED } from '../../fake/script';
import Blocks from './Blocks.svelte';
import { blocksText } from './markdown';

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>&lt;b&gt;';

/** Every kind of block and span, each with the same text. */
function everything(text: string): Block[] {
  const inner: Span[] = [{ type: 'text', text }];
  const spans: Span[] = [
    { type: 'text', text },
    { type: 'code', text },
    { type: 'raw', text },
    { type: 'emphasis', spans: inner },
    { type: 'strong', spans: inner },
    { type: 'strike', spans: inner },
    { type: 'link', url: 'https://example.org/', host: 'example.org', spans: inner },
    { type: 'link', url: 'javascript:alert(1)', host: '', spans: inner },
    { type: 'file', path: text, line: 1, destination: text, spans: inner },
    { type: 'image', url: 'https://example.org/a.png', host: 'example.org', alt: text },
    { type: 'footnoteRef', label: text },
    { type: 'break' },
  ];
  const blocks: Block[] = [
    { type: 'paragraph', spans },
    { type: 'heading', level: 1, spans },
    {
      type: 'code',
      language: text,
      lines: [
        {
          tokens: [
            { text, style: 'plain' },
            { text, style: 'string' },
          ],
        },
      ],
    },
    { type: 'table', align: ['left'], head: [{ spans }], rows: [[{ spans }]] },
    { type: 'rule' },
  ];
  return [
    ...blocks,
    { type: 'quote', blocks },
    { type: 'list', start: null, items: [{ checked: true, blocks }] },
    { type: 'list', start: 3, items: [{ checked: null, blocks }] },
    { type: 'footnote', label: text, blocks },
  ];
}

describe('documents', () => {
  it('keep the selection in a paragraph that grows', async () => {
    const grown = (text: string): Block[] => [
      {
        type: 'paragraph',
        spans: [
          { type: 'text', text: 'See ' },
          { type: 'code', text: 'a.rs' },
          { type: 'text', text },
        ],
      },
    ];
    const { container, redraw } = await draw(Blocks, { blocks: grown(' and the fi'), caret: true });
    const code = container.querySelector('code');
    const last = code?.nextSibling as Text;
    const selected = document.getSelection();
    selected?.setBaseAndExtent(code?.firstChild as Text, 1, last, 4);
    await redraw({ blocks: grown(' and the files') });
    expect(selected?.toString()).toBe('.rs and');
    await redraw({ blocks: grown(' and the **files') });
    expect(container.textContent).toBe('See a.rs and the **files');
    expect(selected?.toString()).toBe('.rs and');
  });

  it('draw hostile text as text, in every place it can stand', async () => {
    const { container } = await draw(Blocks, { blocks: everything(HOSTILE) });
    expect(container.querySelector('img, script, b, iframe')).toBeNull();
    expect(container.querySelectorAll('[onerror], [style]')).toHaveLength(0);
    // 11 texts in each of the 4 span lists and the code block with its language, five times over, and two labels.
    expect(container.textContent.split('<img src=x').length - 1).toBeGreaterThan(100);
  });

  it('draw the words of a document and nothing else', async () => {
    const { container } = await draw(Blocks, {
      blocks: parse('Call `Money::round`; it **rounds** [here](https://a.b/c).'),
    });
    expect(container.textContent.trim()).toBe('Call Money::round; it rounds here.');
  });

  it('draw code line by line', async () => {
    const { container } = await draw(Blocks, { blocks: [code('let a = 1;', '', '  b')] });
    expect(container.querySelector('pre')?.textContent).toBe('let a = 1;\n\n  b\n');
  });

  it('keep the lines of code before which others went, and the words behind which others came', async () => {
    const lines = ['one', 'two', 'three'].map((line) => codeLine(line));
    const words = (text: string): Block => ({
      type: 'paragraph',
      spans: [
        { type: 'code', text: 'a' },
        { type: 'text', text },
      ],
    });
    const codeOf = (from: number): Block => ({ type: 'code', language: null, lines: lines.slice(from) });
    const { container, redraw } = await draw(Blocks, { blocks: [codeOf(0), words('some')] });
    const [, second, third] = container.querySelectorAll('.line');
    const run = container.querySelector('p code')?.nextSibling;
    await redraw({ blocks: [codeOf(1), words('some more')] });
    expect([...container.querySelectorAll('.line')]).toEqual([second, third]);
    expect(container.querySelector('p code')?.nextSibling).toBe(run);
    expect(container.querySelector('p')?.textContent).toBe('asome more');
  });

  it('have a direction of their own, and code with right-to-left letters the order of its tokens', async () => {
    const tokens = [
      { text: 'name', style: 'plain' as const },
      { text: ' = ', style: 'plain' as const },
      { text: '"שלום"', style: 'string' as const },
    ];
    const both: Block = { type: 'code', language: null, lines: [{ tokens }, codeLine('let a = 1;')] };
    const quote: Block = { type: 'quote', blocks: [paragraph('12: مرحبا')] };
    const blocks = [paragraph('1. שלום world'), paragraph('world שלום'), paragraph('12'), quote, both];
    const { container } = await draw(Blocks, { blocks });
    const directions = [...container.querySelectorAll('p, blockquote')].map((block) => block.getAttribute('dir'));
    expect(directions).toEqual(['rtl', 'ltr', '', 'rtl', 'rtl']);
    const [hebrew, latin] = container.querySelectorAll('.line');
    expect([...(hebrew?.children ?? [])].map(({ textContent }) => textContent)).toEqual(['name', ' = ', '"שלום"']);
    expect([hebrew, latin].map((line) => line?.classList.contains('isolated'))).toEqual([true, false]);
  });

  it('keep the elements of closed blocks while the last one grows', async () => {
    const blocks = [paragraph('one'), paragraph('two'), code('let a')];
    const { container, redraw } = await draw(Blocks, { blocks });
    const before = [...container.querySelectorAll('p')];
    const touched: Node[] = [];
    const observer = new MutationObserver((records) => touched.push(...records.map((record) => record.target)));
    observer.observe(container, { subtree: true, childList: true, characterData: true, attributes: true });
    const last = blocks[2];
    if (last?.type !== 'code') throw new Error('not code');
    const grown: Block = { ...last, lines: [...last.lines, codeLine('let b')] };
    await redraw({ blocks: [...blocks.slice(0, 2), grown] });
    await tick();
    observer.disconnect();
    expect([...container.querySelectorAll('p')]).toEqual(before);
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.every((node) => (node instanceof Element ? node : node.parentElement)?.closest('pre'))).toBe(true);
  });

  it('open links through the host, and say where they lead', async () => {
    const { host } = await draw(Blocks, { blocks: parse('[the bank](https://evil.example/login)') });
    host.openLink = (url) => {
      host.opened.push(url);
      return Promise.resolve();
    };
    const link = screen.getByRole('link', { name: 'the bank' });
    expect(link.title).toContain('evil.example');
    const click = new MouseEvent('click', { bubbles: true, cancelable: true });
    await fireEvent(link, click);
    expect(click.defaultPrevented).toBe(true);
    expect(host.opened).toEqual(['https://evil.example/login']);
  });

  it('say where a link leads beside words that say something else', async () => {
    const { container } = await draw(Blocks, { blocks: parse('[docs.rs](https://evil.example/login)') });
    expect(container.textContent.trim()).toBe('docs.rs (evil.example)');
  });

  it('make no link of an address that is not for a browser', async () => {
    const blocks: Block[] = [
      {
        type: 'paragraph',
        spans: [{ type: 'link', url: 'file:///etc/passwd', host: '', spans: [{ type: 'text', text: 'x' }] }],
      },
    ];
    await draw(Blocks, { blocks });
    expect(screen.queryByRole('link')).toBeNull();
  });

  it('go back to Markdown', () => {
    expect(blocksText(parse(EXPLAINED)).replace(/\s+/g, ' ')).toContain(
      '## What was wrong `Money::round` rounded midpoints *away from zero*.',
    );
    expect(parse(blocksText(parse(EXPLAINED)))).toEqual(parse(EXPLAINED));
  });
});
