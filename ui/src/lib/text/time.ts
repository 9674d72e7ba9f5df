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

/** “16:40”. */
const clock = (date: Date) => date.toLocaleTimeString(dateLanguage(), { hour: '2-digit', minute: '2-digit' });

/** “3 Nov 2026”: a day without a time zone, given as its midnight in UTC. */
export function fullDay(at: number): string {
  const parts: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
  return new Date(at).toLocaleDateString(dateLanguage(), parts);
}

/** “now”, “12 min”, “16:40”, “Mon”, “3 Nov”: short, for a list. */
export function ago(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`;
  const date = new Date(at);
  if (day(at, now) !== 'Earlier') return clock(date);
  if (age < 7 * DAY) return date.toLocaleDateString(dateLanguage(), { weekday: 'short' });
  return date.toLocaleDateString(dateLanguage(), { day: 'numeric', month: 'short' });
}

/** “16:40” today, “Mon 16:40” within a week, else “3 Nov 16:40”. For past and future times. */
export function moment(at: number, now: number): string {
  const date = new Date(at);
  const time = clock(date);
  if (date.toDateString() === new Date(now).toDateString()) return time;
  const day: Intl.DateTimeFormatOptions =
    Math.abs(at - now) < 6 * DAY ? { weekday: 'short' } : { day: 'numeric', month: 'short' };
  return `${date.toLocaleDateString(dateLanguage(), day)} ${time}`;
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
