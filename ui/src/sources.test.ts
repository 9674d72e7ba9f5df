import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '.');

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(svelte|ts)$/.test(path) && !/\.test\.ts$|^test[\\/]/.test(path))
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(ROOT, path), 'utf8') }));

const holding = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe('the sources', () => {
  it('turn no string into elements', () => {
    expect(holding(/\{@html|\.(inner|outer)HTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc/)).toEqual([]);
  });

  it('know Tauri in one place', () => {
    expect(holding(/@tauri-apps/)).toEqual(['lib/host/tauri.ts']);
  });

  it('take colours and sizes from the tokens', () => {
    const own = sources.flatMap(({ path, text }) => {
      const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
      const rules = style.replaceAll(/@media[^{]*/g, '');
      return [...rules.matchAll(/#[0-9a-f]{3,8}\b(?!\s*62%)|\brgb\(|\b[1-9]\d*(\.\d+)?(px|rem|vh|vw)\b/gi)].map(
        ([found]) => `${path}: ${found}`,
      );
    });
    expect(own.filter((found) => !found.endsWith('#000'))).toEqual([]);
  });

  it('say on top what they are for', () => {
    const silent = sources.filter(({ text }) => !/^(<!--|\/\/|\/\*)/.test(text)).map(({ path }) => path);
    expect(silent).toEqual([]);
  });
});
