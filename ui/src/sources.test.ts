import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse, type AST } from 'svelte/compiler';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '.');

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(svelte|ts)$/.test(path) && !/\.test\.ts$|^test[\\/]/.test(path))
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(ROOT, path), 'utf8') }));

const styles = sources.map(({ path, text }) => {
  return { path, rules: /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '' };
});

const holding = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

interface Key {
  found: string;
  /** The key is the index, or made by `uniqueKeys`. */
  isSafe: boolean;
}

/** The keys of all keyed lists of a component. Lists without a key are not found; the linter forbids them. */
function keysOf(path: string, source: string): Key[] {
  const keys: Key[] = [];
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && node.type === 'EachBlock') {
      const { key, index } = node as AST.EachBlock;
      const { start = 0, end = 0 } = (key ?? {}) as { start?: number; end?: number };
      const text = source.slice(start, end);
      const made = /^(\w+)\[(\w+)\]$/.exec(text);
      const isMade = made?.[2] === index && new RegExp(`\\b${made?.[1] ?? ''} =[^;]*\\buniqueKeys\\(`).test(source);
      keys.push({ found: `${path}: ${text}`, isSafe: index !== undefined && (text === index || isMade) });
    }
    for (const part of Object.values(node)) visit(part);
  };
  visit(parse(source, { modern: true }).fragment);
  return keys;
}

describe('the sources', () => {
  it('turn no string into elements', () => {
    expect(holding(/\{@html|\.(inner|outer)HTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc/)).toEqual([]);
  });

  it('know Tauri in one place', () => {
    expect(holding(/@tauri-apps/)).toEqual(['lib/host/tauri.ts']);
  });

  it('write dates and times in one place', () => {
    const own = holding(/toLocale(Date|Time)String|DateTimeFormat/);
    expect(own).toEqual(['lib/text/time.ts']);
  });

  it('draw each character of a text by itself', () => {
    const everything = /^\*,\n\*::before,\n\*::after \{[^}]*font-variant-ligatures: none !important;/m;
    expect(readFileSync(join(ROOT, 'app.css'), 'utf8')).toMatch(everything);
    const own = styles.filter(({ rules }) => /font-variant-ligatures|'(calt|liga|clig|dlig)'/.test(rules));
    expect(own.map(({ path }) => path)).toEqual([]);
  });

  it('take colours and sizes from the tokens', () => {
    const own = styles.flatMap(({ path, rules }) => {
      const values = rules.replaceAll(/@(media|container)[^{]*/g, '');
      return [...values.matchAll(/#[0-9a-f]{3,8}\b(?!\s*62%)|\brgb\(|\b[1-9]\d*(\.\d+)?(px|rem|vh|vw)\b/gi)].map(
        ([found]) => `${path}: ${found}`,
      );
    });
    expect(own.filter((found) => !found.endsWith('#000'))).toEqual([]);
  });

  // With one such rule, Chromium computed the styles of a whole answer again for each code block that arrived, which was
  // half of the cost of streaming it.
  it('have no style rule for every element after another', () => {
    const universal = styles.filter(({ rules }) => /[+~]\s*(:global\()?\s*\*/.test(rules));
    expect(universal.map(({ path }) => path)).toEqual([]);
  });

  // Svelte stops drawing the page at a duplicate key, and data from an agent can be equal.
  it('take the keys of lists from no value', () => {
    /** Numbers assigned by the page or the engine, and fixed sets of names. */
    const allowed = [
      'lib/session/composer/AttachmentList.svelte: attachment.id',
      'lib/session/conversation/ProblemList.svelte: problem.id',
      'lib/session/options/OptionsDialog.svelte: field',
      'lib/session/options/OptionsDialog.svelte: section.id',
      'lib/session/options/OptionsDialog.svelte: section.id',
      'lib/session/viewer/FileViewer.svelte: one.newLine',
      'lib/window/board/BoardWindow.svelte: name',
      'lib/window/board/BoardWindow.svelte: name',
      'lib/window/settings/SettingsPage.svelte: section',
      'lib/window/settings/SettingsPage.svelte: setting.key',
    ];
    const keys = sources.filter(({ path }) => path.endsWith('.svelte')).flatMap(({ path, text }) => keysOf(path, text));
    expect(keys.length).toBeGreaterThan(30);
    expect(
      keys
        .filter(({ isSafe }) => !isSafe)
        .map(({ found }) => found)
        .sort(),
    ).toEqual(allowed);
  });

  it('say on top what they are for', () => {
    const silent = sources.filter(({ text }) => !/^(<!--|\/\/|\/\*)/.test(text)).map(({ path }) => path);
    expect(silent).toEqual([]);
  });
});
