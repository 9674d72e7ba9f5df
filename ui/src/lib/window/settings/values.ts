// Values of settings by their key.

import type { JsonValue, KeyBinding, SettingKey, Settings } from '../../bindings/api';

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

/** Whether every word of a query is in the setting's names, description or choices. */
export function fits(setting: SettingKey, query: string): boolean {
  const { control } = setting;
  const choices = control.type === 'choice' ? control.options.map((option) => option.label) : [];
  const text = [setting.key, setting.group, setting.label, setting.description, ...choices].join(' ').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The keys that were chosen for actions, as the settings page lists them. */
export function chosenNames(value: JsonValue): string {
  const bindings = value as unknown as KeyBinding[];
  if (bindings.length === 0) return 'All actions have their usual keys.';
  return bindings.map(({ action, key }) => `${action}: ${key ?? 'none'}`).join(' · ');
}

/** A command as lines: the program, then an argument in each line. */
export function commandLines(value: JsonValue): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return '';
  const { program, args } = value as { program: string; args?: string[] };
  return [program, ...(args ?? [])].join('\n');
}

/** The command of lines; `null` if there is no program. */
export function commandOf(lines: string): JsonValue {
  const [program = '', ...args] = lines.replace(/\n+$/, '').split('\n');
  return program.trim() === '' ? null : { program: program.trim(), args };
}
