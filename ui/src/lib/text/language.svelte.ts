// The language of dates and times.

import type { SettingsView } from '../bindings/api';

/** Where no other is known: British English, with hours up to 23. */
export const USUAL = 'en-GB';

let chosen = $state(USUAL);

/** A language tag for `Intl`. Dates on the screen follow it when it changes. */
export const dateLanguage = (): string => chosen;

export function setDateLanguage(tag: string): void {
  chosen = usable(tag);
}

/** The language that the settings ask for. */
export function wantedLanguage({ settings, systemDates }: SettingsView): string {
  const isSystem = settings.dates === null || settings.dates === 'system';
  return isSystem ? (systemDates ?? navigator.language) : (settings.dates ?? USUAL);
}

/** Keeps dates and times in the wanted language. Call it during component setup. */
export function followDates(view: () => SettingsView): void {
  $effect.pre(() => setDateLanguage(wantedLanguage(view())));
}

/** A tag that `Intl` accepts. A locale of the system may have a form that it refuses. */
function usable(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? USUAL;
  } catch {
    return USUAL;
  }
}
