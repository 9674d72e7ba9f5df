// Dates and times follow the language of the settings, also while they are on the screen.

import { afterEach, describe, expect, it, vi } from 'vitest';

import { SETTINGS } from '../../fake/facts';
import { dayName } from '../session/usage/days';
import { dateLanguage, setDateLanguage, USUAL, wantedLanguage } from './language.svelte';
import { ago, moment, periods } from './time';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  setDateLanguage(USUAL);
});

const NOW = new Date(2026, 10, 25, 18, 0).getTime();
const MONDAY = new Date(2026, 10, 23, 16, 40).getTime();
const OCTOBER = new Date(2026, 9, 3, 16, 40).getTime();

/** The same moments in each place that shows one, with plain spaces. */
const written = (language: string) => {
  setDateLanguage(language);
  const all = [
    moment(MONDAY, NOW),
    moment(OCTOBER, NOW),
    ago(OCTOBER, NOW),
    periods(NOW)(OCTOBER),
    dayName('2026-11-03'),
  ];
  return all.map((text) => text.replaceAll(/\s/g, ' '));
};

describe('the language of dates', () => {
  it('is British English where no other is known', () => {
    expect(written('')).toEqual(['Mon 16:40', '3 Oct 16:40', '3 Oct', 'October', '3 Nov 2026']);
  });

  it('changes every date and time', () => {
    expect(written('de')).toEqual(['Mo 16:40', '3. Okt. 16:40', '3. Okt.', 'Oktober', '3. Nov. 2026']);
    expect(written('en-US')).toEqual(['Mon 04:40 PM', 'Oct 3 04:40 PM', 'Oct 3', 'October', 'Nov 3, 2026']);
    expect(written('en-GB-u-hc-h12')[0]).toBe('Mon 04:40 pm');
  });

  it('is used by one format for all rows of a list, until the time zone changes', () => {
    let nMade = 0;
    class Counted extends Intl.DateTimeFormat {
      constructor(language: string, options: Intl.DateTimeFormatOptions) {
        super(language, options);
        nMade += 1;
      }
    }
    vi.stubGlobal('Intl', Object.create(Intl, { DateTimeFormat: { value: Counted } }));
    // Another offset than that of any other test.
    const offset = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-541);
    for (let nr = 0; nr < 1000; nr++) ago(OCTOBER - nr * 1000, NOW);
    expect(nMade).toBe(1);
    offset.mockReturnValue(-542);
    ago(OCTOBER, NOW);
    expect(nMade).toBe(2);
  });

  it('is the chosen one, or the system’s', () => {
    const wanted = (dates: string | null, systemDates: string | null) =>
      wantedLanguage({ ...SETTINGS, settings: { ...SETTINGS.settings, dates }, systemDates });
    expect(wanted('de', 'fr')).toBe('de');
    expect(wanted(null, 'fr')).toBe('fr');
    expect(wanted('system', 'fr')).toBe('fr');
    expect(wanted(null, null)).toBe(navigator.language);
  });

  it('is never one that the engine of the page refuses', () => {
    for (const tag of ['de_DE', '', 'C.UTF-8', '-', 'en-u-hc-h12-hc-h24-u-x']) {
      setDateLanguage(tag);
      expect(() => moment(MONDAY, NOW)).not.toThrow();
    }
    expect(dateLanguage()).toBe(USUAL);
  });

  // The tags that the check of the settings file accepts, in `engine/src/settings/dates.rs`.
  it.each([
    'de',
    'en-GB',
    'en-US',
    'zh-Hant-TW',
    'es-419',
    'sl-rozaj-biske',
    'de-1996',
    'DE-de',
    'system',
    'en-GB-u-hc-h12',
    'ar-u-nu-latn-ca-islamic-umalqura',
    'xx-ZZ',
  ])('can be %s', (tag) => {
    setDateLanguage(tag);
    expect(dateLanguage()).toBe(Intl.getCanonicalLocales(tag)[0]);
    expect(moment(OCTOBER, NOW)).not.toBe('');
  });
});
