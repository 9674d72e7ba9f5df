// Values of settings by their key, and their words on the settings page.

import type { JsonValue, KeyBinding, SettingKey, Settings } from '../../bindings/api';
import { modeLabel } from '../../session/modes';
import { lineOf } from './commandLine';

/** The value of a key: `agent.program` is `settings.agent.program`. */
export function valueOf(settings: Settings, key: string): JsonValue {
  let value = settings as unknown as JsonValue;
  for (const name of key.split('.')) value = (value as Record<string, JsonValue>)[name] ?? null;
  return value;
}

/** A copy of the settings with another value for a key. */
export function withSetting(settings: Settings, key: string, value: JsonValue): Settings {
  const copy = structuredClone(settings);
  const names = key.split('.');
  const last = names.pop() ?? '';
  let place = copy as unknown as Record<string, JsonValue>;
  for (const name of names) place = place[name] as Record<string, JsonValue>;
  place[last] = value;
  return copy;
}

/** The rows of the table of notifications, by their names in the keys. */
export const EVENTS = [
  { id: 'needsYou', label: 'Needs you', help: 'Requests, questions, plans', mark: 'waiting' },
  { id: 'failed', label: 'Fails', help: 'The turn ended with an error', mark: 'failed' },
  { id: 'finished', label: 'Finishes', help: 'The turn ended well', mark: 'done' },
] as const;

/** The event of a setting that is a cell of the table of notifications. */
export const eventOf = (key: string) => EVENTS.find(({ id }) => key.startsWith(`bell.${id}.`));

/** The label of one of a choice's options. */
export function optionLabel(setting: SettingKey, value: JsonValue): string {
  const options = setting.control.type === 'choice' ? setting.control.options : [];
  const label = options.find((option) => option.value === value)?.label ?? '';
  // The descriptions of the modes are sentences.
  return setting.key === 'agent.mode' && typeof value === 'string' ? modeLabel(value) : label;
}

/** The words of a query. */
export const wordsOf = (query: string): string[] =>
  query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/** Whether every word of a query is in the setting's label, help or choices, or in its key if the query has a dot. */
export function fits(setting: SettingKey, query: string): boolean {
  const { control, key } = setting;
  const choices = control.type === 'choice' ? control.options.map(({ value }) => optionLabel(setting, value)) : [];
  const event = eventOf(key);
  const texts = [
    query.includes('.') ? key : '',
    setting.section,
    setting.label,
    setting.help,
    event?.label,
    event?.help,
    ...choices,
  ];
  const text = texts.join(' ').toLowerCase();
  return wordsOf(query).every((word) => text.includes(word));
}

const isSame = (one: JsonValue, other: JsonValue) => JSON.stringify(one) === JSON.stringify(other);

/** Whether a setting differs from its default. A list of profiles or presets has no usual content. */
export function isChanged(setting: SettingKey, value: JsonValue): boolean {
  const { type } = setting.control;
  return type !== 'profiles' && type !== 'presets' && !isSame(value, setting.default);
}

/** A value as its control shows it. */
export function valueWords(setting: SettingKey, value: JsonValue): string {
  const { control } = setting;
  switch (control.type) {
    case 'toggle':
      return value === true ? 'on' : 'off';
    case 'choice':
      return optionLabel(setting, value);
    case 'number':
      return numberLine(control.unit, value);
    case 'text':
      return typeof value === 'string' ? value : (control.placeholder ?? 'none');
    case 'command':
      return value === null ? 'none' : lineOf(value);
    case 'keys':
      return 'the usual keys';
    case 'profiles':
    case 'presets':
      return '';
  }
}

/** A number with its unit. */
export const numberLine = (unit: string | null, value: JsonValue): string =>
  unit === null ? String(value) : `${String(value)} ${unit}`;

/** The number that was typed, with or without its unit; `null` if it is none or not within the limits. */
export function numberOf(typed: string, { min, max, unit }: { min: number; max: number; unit: string | null }) {
  const text = typed.trim();
  const digits = unit !== null && text.endsWith(unit) ? text.slice(0, -unit.length).trim() : text;
  const value = /^\d{1,9}$/.test(digits) ? Number(digits) : NaN;
  return value >= min && value <= max ? value : null;
}

/** The step of a number's buttons and arrow keys. */
export const stepOf = (min: number, max: number): number => (max - min > 1000 ? 5 : max - min > 100 ? 10 : 1);

/** The keys that were chosen for actions, as the settings page lists them. */
export function chosenNames(value: JsonValue): string {
  const bindings = value as unknown as KeyBinding[];
  if (bindings.length === 0) return 'All actions have their usual keys.';
  return bindings.map(({ action, key }) => `${action}: ${key ?? 'none'}`).join(' · ');
}
