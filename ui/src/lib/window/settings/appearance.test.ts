import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { App } from '../../../test/parts';
import { ManualClock } from '../../../test/clock';
import { SETTING_KEYS } from '../../bindings/settings';
import { FakeHost } from '../../../fake/host';
import { applyStoredAccent, families } from './appearance.svelte';

beforeEach(() => localStorage.clear());

it('quotes the names of fonts, and keeps the usual ones after them', () => {
  expect(families('Fira Code, monospace,, ', 'ui-monospace')).toBe('"Fira Code", monospace, ui-monospace');
  expect(families('a"; color: red', 'serif')).toBe('"a\\"; color: red", serif');
});

const control = SETTING_KEYS.find(({ key }) => key === 'accent')?.control;
const accents = control?.type === 'choice' ? control.options.map(({ value }) => value ?? '') : [];

it('takes the accent colour of the setting at once, and at the next start from the first frame on', async () => {
  const host = new FakeHost('conversation');
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  const { dataset } = document.documentElement;
  expect(dataset['accent']).toBe('gold');
  const user = userEvent.setup();
  await user.keyboard('{Control>},{/Control}');
  await user.click(await screen.findByRole('radio', { name: 'Purple' }));
  expect(dataset['accent']).toBe('purple');
  dataset['accent'] = '';
  applyStoredAccent();
  expect(dataset['accent']).toBe('purple');
});

describe('the contrast of each accent colour', () => {
  const css = readFileSync(join(import.meta.dirname, '../../tokens.css'), 'utf8');

  /** The colours in the blocks with these selectors; a later one counts before an earlier one. */
  function colours(...selectors: string[]): (name: string) => string {
    const found = new Map<string, string>();
    for (const selector of selectors) {
      const block = css.split(`\n${selector} {`)[1]?.split('}')[0];
      if (block === undefined) throw new Error(`the style sheet has no ${selector}`);
      for (const [, name, value] of block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)) found.set(name ?? '', value ?? '');
    }
    return (name) => found.get(name) ?? '';
  }

  /** Relative luminance, as WCAG 2 defines it. */
  function luminance(colour: string): number {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function contrast(one: string, other: string): number {
    const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  const cases = accents.flatMap((accent) => ['light', 'dark'].map((theme) => [accent, theme] as const));

  it.each(cases)('%s in the %s theme', (accent, theme) => {
    const theirs = accent === 'gold' ? [] : [`[data-accent='${accent}']`];
    const dark = theme === 'dark' ? ["[data-theme='dark']", ...theirs.map((own) => `[data-theme='dark']${own}`)] : [];
    const colour = colours(":root,\n[data-theme='light']", ...theirs, ...dark);
    for (const ground of ['bg', 'surface', 'sunken', 'hover', 'accent-soft']) {
      expect(contrast(colour('accent'), colour(ground)), `links on ${ground}`).toBeGreaterThanOrEqual(4.5);
      expect(contrast(colour('accent-fill'), colour(ground)), `marks on ${ground}`).toBeGreaterThanOrEqual(3);
    }
    expect(contrast(colour('on-accent'), colour('accent-fill')), 'main buttons').toBeGreaterThanOrEqual(4.5);
    for (const text of ['text', 'muted']) {
      expect(contrast(colour(text), colour('accent-soft')), `${text} of chosen rows`).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('is that of colours of its own', () => {
    expect(
      new Set(accents.map((accent) => (accent === 'gold' ? ':root' : css.split(`[data-accent='${accent}'] {`)[1])))
        .size,
    ).toBe(accents.length);
    expect(accents.length).toBeGreaterThanOrEqual(5);
  });
});

it('draws what is there before the script with the colours of the dark theme', () => {
  const css = readFileSync(join(import.meta.dirname, '../../tokens.css'), 'utf8');
  const block = (selector: string) => css.split(`${selector} {`)[1]?.split('}')[0] ?? '';
  const early = block(':root:not([data-theme])').match(/--[a-z-]+: #[0-9a-f]{6};/g) ?? [];
  expect(early.map((line) => line.split(':')[0])).toEqual(['--bg', '--line-strong']);
  const dark = block("\n[data-theme='dark']");
  for (const line of early) expect(dark).toContain(line);
});
