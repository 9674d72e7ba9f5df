// The theme as the page wears it. `system` follows the desktop as it changes.

import { MediaQuery } from 'svelte/reactivity';

import type { Theme } from '../bindings/api';

const KEY = 'deskbell.theme';
const DARK = '(prefers-color-scheme: dark)';

/** Before the settings are known: the theme of the last time. */
export function applyStoredTheme(): void {
  const stored = localStorage.getItem(KEY);
  const theme = stored === 'light' || stored === 'dark' ? stored : 'system';
  document.documentElement.dataset['theme'] = theme === 'system' ? systemTheme() : theme;
}

/** Keeps the page in the theme that `wanted` says; called while a component is set up. */
export function followTheme(wanted: () => Theme): void {
  const dark = new MediaQuery(DARK);
  $effect(() => {
    const theme = wanted();
    document.documentElement.dataset['theme'] = theme === 'system' ? (dark.current ? 'dark' : 'light') : theme;
    localStorage.setItem(KEY, theme);
  });
}

function systemTheme(): 'light' | 'dark' {
  return matchMedia(DARK).matches ? 'dark' : 'light';
}
