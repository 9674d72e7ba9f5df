// Changes on the settings page: each is saved at once, a refused one says why, and the last ones can be undone.

import type { CommandError, JsonValue, SettingKey, Settings } from '../../bindings/api';
import { valueOf } from './values';

/** Saves a value. Resolves to why it was refused. */
export type Save = (key: string, value: JsonValue) => Promise<CommandError | null>;

type Undo = () => Promise<CommandError | null>;

/** Why a value was refused, without the name of its setting, which stands above. */
export function refusalWords({ code, message, detail }: CommandError): string {
  if (code === 'refused' || detail === null) return message;
  const words = detail.replace(/^“[^”]*”:? ?/, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const without = <T>(all: Readonly<Record<string, T>>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([other]) => other !== key));

export class SettingEdits {
  /** The last event, for the line at the top of the page. */
  said = $state('');
  /** Values that are being saved, by their key. */
  #wanted = $state.raw<Record<string, JsonValue>>({});
  /** Why the last value of a key has no effect. */
  #problems = $state.raw<Record<string, string>>({});
  readonly #done: { label: string; undo: Undo }[] = [];
  /** The last save of each key, so that a later value is never overtaken by an earlier one. */
  readonly #saves = new Map<string, Promise<unknown>>();

  constructor(
    private readonly settings: () => Settings,
    private readonly save: Save,
  ) {}

  /** The value to show: one that is being saved counts. */
  shown(key: string): JsonValue {
    return key in this.#wanted ? (this.#wanted[key] ?? null) : this.saved(key);
  }

  saved(key: string): JsonValue {
    return valueOf(this.settings(), key);
  }

  problem(key: string): string | null {
    return this.#problems[key] ?? null;
  }

  /** Says why a typed value cannot be one; `null` takes that back. */
  refuse(key: string, problem: string | null): void {
    const others = without(this.#problems, key);
    this.#problems = problem === null ? others : { ...others, [key]: problem };
  }

  /** Changes settings together: one undo takes all of them back. */
  async change(label: string, changes: readonly (readonly [SettingKey, JsonValue])[]): Promise<void> {
    const before = changes.map(([{ key }]) => [key, this.saved(key)] as const);
    const isSaved = await Promise.all(changes.map(([{ key }, value]) => this.#set(key, value)));
    const saved = before.filter((_, i) => isSaved[i]);
    if (saved.length === 0) return;
    this.said = '';
    this.#done.push({ label, undo: () => this.#setAll(saved) });
  }

  /** Remembers how a change that was made elsewhere on the page is undone. */
  made(label: string, undo: Undo): void {
    this.said = '';
    this.#done.push({ label, undo });
  }

  async reset(label: string, settings: readonly SettingKey[]): Promise<void> {
    await this.change(
      label,
      settings.map((setting) => [setting, setting.default] as const),
    );
  }

  /** Undoes the last change. */
  async undo(): Promise<void> {
    const last = this.#done.pop();
    if (last === undefined) {
      this.said = 'Nothing to undo';
      return;
    }
    const refused = await last.undo();
    this.said = refused === null ? `Undone: ${last.label}` : `Not undone: ${refusalWords(refused)}`;
  }

  async #setAll(values: readonly (readonly [string, JsonValue])[]): Promise<CommandError | null> {
    const refusals = await Promise.all(values.map(([key, value]) => this.save(key, value)));
    for (const [key] of values) this.refuse(key, null);
    return refusals.find((refusal) => refusal !== null) ?? null;
  }

  async #set(key: string, value: JsonValue): Promise<boolean> {
    this.#wanted = { ...this.#wanted, [key]: value };
    const saving = (this.#saves.get(key) ?? Promise.resolve()).then(() => this.save(key, value));
    this.#saves.set(key, saving);
    const refused = await saving;
    if (this.#saves.get(key) === saving) {
      this.#wanted = without(this.#wanted, key);
      this.refuse(key, refused === null ? null : refusalWords(refused));
    }
    return refused === null;
  }
}
