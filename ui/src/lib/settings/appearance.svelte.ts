// Fonts and density of the page.

import type { Settings } from '../bindings/api';

/** The CSS value of a list of font families, with the usual ones after it. */
export function families(names: string, usual: string): string {
  const quoted = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    // Generic names such as `monospace` are keywords, not names in quotes.
    .map((name) => (/^[a-z-]+$/.test(name) ? name : JSON.stringify(name)));
  return [...quoted, usual].join(', ');
}

/** Keeps the page in the wanted fonts and density. Call it during component setup. */
export function followAppearance(wanted: () => Settings): void {
  $effect(() => {
    const { density, fonts } = wanted();
    const { dataset, style } = document.documentElement;
    dataset['density'] = density;
    const set = (name: string, value: string | null) =>
      value === null ? style.removeProperty(name) : style.setProperty(name, value);
    set('--font-ui', fonts.interface === null ? null : families(fonts.interface, 'system-ui, sans-serif'));
    set('--font-code', fonts.code === null ? null : families(fonts.code, 'ui-monospace, monospace'));
    set('--type', `${fonts.size}px`);
    set('--code-size', `${fonts.codeSize / 100}`);
  });
}
