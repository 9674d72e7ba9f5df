// Times and durations in words. Dates and times are in the language of the settings; the words around them are English.

import { dateLanguage } from './language.svelte';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** “0.4 s”, “6 s”, “12 s”, “3 min 5 s”, “1 h 4 min”. */
export function span(ms: number): string {
  if (ms < 9_950) return `${Number((Math.max(0, ms) / 1000).toFixed(1))} s`;
  if (ms < MINUTE) return `${Math.round(ms / 1000)} s`;
  if (ms < HOUR) {
    const seconds = Math.round((ms % MINUTE) / 1000);
    return seconds === 0 ? `${Math.floor(ms / MINUTE)} min` : `${Math.floor(ms / MINUTE)} min ${seconds} s`;
  }
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

/** Like `span`, but in whole seconds: for a running time. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : span(seconds * 1000);
}

const STYLES = {
  /** “16:40”. */
  clock: { hour: '2-digit', minute: '2-digit' },
  /** “Mon”. */
  weekday: { weekday: 'short' },
  /** “3 Nov”. */
  date: { day: 'numeric', month: 'short' },
  /** “3 Nov 2026”, in UTC. */
  fullDay: { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Writes a date. The formats are kept: to make one takes as long as to write 60 dates with it (WebKitGTK 2.50), and each
 * row of a list has a date. A format has the time zone in which it was made, so each offset has its own.
 */
function write(date: Date, style: keyof typeof STYLES): string {
  const language = dateLanguage();
  const key = `${style} ${language} ${date.getTimezoneOffset()}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(language, STYLES[style]);
    formats.set(key, format);
  }
  return format.format(date);
}

/** “3 Nov 2026”: a day without a time zone, given as its midnight in UTC. */
export const fullDay = (at: number): string => write(new Date(at), 'fullDay');

/** “now”, “12 min”, “16:40”, “Mon”, “3 Nov”: short, for a list. */
export function ago(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`;
  const date = new Date(at);
  if (day(at, now) !== 'Earlier') return write(date, 'clock');
  return write(date, age < 7 * DAY ? 'weekday' : 'date');
}

/** “16:40” today, “Mon 16:40” within a week, else “3 Nov 16:40”. For past and future times. */
export function moment(at: number, now: number): string {
  const date = new Date(at);
  const time = write(date, 'clock');
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${write(date, Math.abs(at - now) < 6 * DAY ? 'weekday' : 'date')} ${time}`;
}

/** The day, as far as it is near. */
export function day(at: number, now: number): 'Today' | 'Yesterday' | 'Earlier' {
  const today = new Date(now);
  today.setHours(0, 0, 0, 0);
  if (at >= today.getTime()) return 'Today';
  const yesterday = new Date(today);
  yesterday.setDate(today.getDate() - 1);
  return at >= yesterday.getTime() ? 'Yesterday' : 'Earlier';
}

/**
 * Names the group of a time in the session list: “Today”, “Yesterday”, “This week”, then months: “October”, “May 2025”.
 * A list may have many thousands of times, so what depends on `now` and the names of months are computed once.
 */
export function periods(now: number): (at: number) => string {
  const midnight = (daysAgo: number) => {
    const date = new Date(now);
    date.setHours(0, 0, 0, 0);
    date.setDate(date.getDate() - daysAgo);
    return date.getTime();
  };
  const [today, yesterday, week] = [midnight(0), midnight(1), midnight(6)];
  const year = new Date(now).getFullYear();
  const names = new Map<number, string>();
  const language = dateLanguage();
  const ofThisYear = new Intl.DateTimeFormat(language, { month: 'long' });
  const ofOtherYears = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric' });
  return (at) => {
    if (at >= today) return 'Today';
    if (at >= yesterday) return 'Yesterday';
    if (at >= week) return 'This week';
    const date = new Date(at);
    const month = date.getFullYear() * 12 + date.getMonth();
    const name = names.get(month) ?? (date.getFullYear() === year ? ofThisYear : ofOtherYears).format(date);
    names.set(month, name);
    return name;
  };
}
