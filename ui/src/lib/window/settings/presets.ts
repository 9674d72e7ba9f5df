// Presets of session options on the settings page: their words, and changes of the list.

import type { Preset, SessionOptions } from '../../bindings/api';
import { plural } from '../../kit/amounts';

/** Maximum length of a preset's name, as the engine has it. */
export const MAX_NAME = 60;

/** What the options of a preset change, in words. */
export function optionWords(options: SessionOptions): string {
  const words: string[] = [];
  const say = (isSet: boolean, text: string) => {
    if (isSet) words.push(text);
  };
  say(options.model !== null, `model ${options.model}`);
  say(options.fallbackModels.length > 0, plural(options.fallbackModels.length, 'fallback model'));
  say(options.effort !== null, `effort ${options.effort}`);
  say(
    options.systemPrompt !== null,
    `${options.systemPrompt?.replace === true ? 'another' : 'a longer'} system prompt`,
  );
  say(options.maxTurns !== null, `at most ${plural(options.maxTurns ?? 0, 'turn')}`);
  say(options.maxBudgetUsd !== null, `at most $${options.maxBudgetUsd}`);
  say(options.folders.length > 0, plural(options.folders.length, 'more folder'));
  say(options.allowedTools.length > 0, plural(options.allowedTools.length, 'allowed tool'));
  say(options.disallowedTools.length > 0, plural(options.disallowedTools.length, 'denied tool'));
  say(options.mcpConfig !== null, 'MCP servers');
  say(options.receivesMessages, 'receives messages of other sessions');
  say(options.environment.length > 0, plural(options.environment.length, 'variable'));
  say(options.arguments.length > 0, plural(options.arguments.length, 'argument'));
  const minutes = options.hibernateMinutes;
  say(minutes !== null, minutes === 0 ? 'never hibernates' : `hibernates after ${plural(minutes ?? 0, 'minute')}`);
  const all = words.join(', ');
  return all === '' ? 'The agent’s defaults' : all.charAt(0).toUpperCase() + all.slice(1);
}

/** Why a preset cannot have this name; `null` if it can. */
export function nameProblem(presets: readonly Preset[], at: number, name: string): string | null {
  const trimmed = name.trim();
  if (trimmed === '') return 'A preset needs a name.';
  if (presets.some((one, i) => i !== at && one.name === trimmed)) return `There is a preset “${trimmed}” already.`;
  return null;
}

/** The presets with one of them changed. */
export function withChange(presets: readonly Preset[], at: number, change: Partial<Preset>): Preset[] {
  return presets.map((one, i) => (i === at ? { ...one, ...change } : one));
}
