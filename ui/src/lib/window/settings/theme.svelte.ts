// The page's theme. `system` follows the desktop, also when it changes.

import { MediaQuery } from 'svelte/reactivity';

import type { Theme } from '../../bindings/api';

const KEY = 'deskbell.theme';
const DARK = '(prefers-color-scheme: dark)';

/** Applies the theme of the previous run, before the settings are known. */
export function applyStoredTheme(): void {
  const stored = localStorage.getItem(KEY);
  const theme = stored === 'light' || stored === 'dark' ? stored : 'system';
  document.documentElement.dataset['theme'] = theme === 'system' ? systemTheme() : theme;
}

/** The theme that a window has for a wanted one. Call it during component setup. */
export function shownTheme(wanted: () => Theme): () => 'light' | 'dark' {
  const dark = new MediaQuery(DARK);
  return () => {
    const theme = wanted();
    return theme === 'system' ? (dark.current ? 'dark' : 'light') : theme;
  };
}

/** Keeps the page in the wanted theme. Call it during component setup. */
export function followTheme(wanted: () => Theme): void {
  const shown = shownTheme(wanted);
  $effect(() => {
    document.documentElement.dataset['theme'] = shown();
    localStorage.setItem(KEY, wanted());
  });
}

function systemTheme(): 'light' | 'dark' {
  return matchMedia(DARK).matches ? 'dark' : 'light';
}
