import { render } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import type { DiffLine } from '../bindings/api';
import DiffText from './DiffText.svelte';
import { directionOf, isolates } from './direction';

describe('the direction of a text', () => {
  it.each([
    ['1. Привет', 'ltr'],
    ['«שלום» and more', 'rtl'],
    ['(مرحبا)', 'rtl'],
    ['42 %', undefined],
  ])('of %j is %s', (text, direction) => {
    expect(directionOf(text)).toBe(direction);
  });

  it('is isolated run by run, in every script that is written from right to left', () => {
    expect(isolates('a = "שָׁלוֹם", b = "عالم"')).toEqual(['a = "', 'שָׁלוֹם', '", b = "', 'عالم', '"']);
    for (const letter of ['ܐ', 'ށ', 'ߐ', 'ࠀ', 'ࡀ', '٣', '\u{10900}', '\u{1e900}', 'ﷲ']) {
      expect(isolates(`a${letter}b`)).toEqual(['a', letter, 'b']);
    }
    expect(isolates('plain → text')).toEqual(['plain → text']);
  });

  it('is isolated in the lines of a diff', () => {
    const line: DiffLine = {
      kind: 'added',
      oldLine: null,
      newLine: 1,
      parts: [{ text: 'x = ["אחת", "שתיים"]', style: 'plain', strong: false }],
    } as unknown as DiffLine;
    const { container } = render(DiffText, { line });
    expect([...container.querySelectorAll('bdi')].map(({ textContent }) => textContent)).toEqual(['אחת', 'שתיים']);
    expect(container.textContent).toBe('x = ["אחת", "שתיים"]');
  });
});
