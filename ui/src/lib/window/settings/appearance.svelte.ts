// Accent colour, fonts and density of the page.

import type { Settings } from '../../bindings/api';

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

const KEY = 'deskbell.accent';

/** Applies the accent colour of the previous run, before the settings are known. */
export function applyStoredAccent(): void {
  // A name that is unknown to the style sheet leaves the usual colour.
  document.documentElement.dataset['accent'] = localStorage.getItem(KEY) ?? '';
}

/** Keeps the page in the wanted accent colour, fonts and density. Call it during component setup. */
export function followAppearance(wanted: () => Settings): void {
  $effect(() => {
    const { accent, density, fonts } = wanted();
    const { dataset, style } = document.documentElement;
    dataset['accent'] = accent;
    localStorage.setItem(KEY, accent);
    dataset['density'] = density;
    const set = (name: string, value: string | null) =>
      value === null ? style.removeProperty(name) : style.setProperty(name, value);
    set('--font-ui', fonts.interface === null ? null : families(fonts.interface, 'system-ui, sans-serif'));
    set('--font-code', fonts.code === null ? null : families(fonts.code, 'ui-monospace, monospace'));
    set('--type', `${fonts.size}px`);
    set('--code-size', `${fonts.codeSize / 100}`);
  });
}
