// Suggestions for the lists of a session's options: what its agent reported and what the user chose before.

import type { Model, Preset, Session } from '../../bindings/api';

/** An entry that can be chosen, with a few words about it. */
export interface Suggestion {
  value: string;
  note: string;
}

/** A name as it is in a rule: other characters than these are underscores there. */
const inRule = (name: string) => name.replace(/[^\w-]/g, '_');

/** The rules that the tools of the session's MCP servers have. */
function serverRules({ configuration }: Session): Suggestion[] {
  return (configuration.servers ?? []).flatMap(({ name, tools }) => {
    const server = `mcp__${inRule(name)}`;
    return [
      { value: server, note: `All tools of ${name}` },
      ...tools.map((tool) => ({
        value: `${server}__${inRule(tool.name)}`,
        note: tool.isReadOnly ? 'Changes nothing, says the server' : '',
      })),
    ];
  });
}

/**
 * Rules for a list of tools: tools that the session used, its MCP servers, the rules in effect, and rules of presets. Each is
 * there once. For *Allowed tools* there is no rule that asks or denies.
 *
 * @param used the agent's names of the tools that the session used
 */
export function toolSuggestions(
  list: 'allowedTools' | 'disallowedTools',
  session: Session,
  used: readonly string[],
  presets: readonly Preset[],
): Suggestion[] {
  const isForAll = list === 'disallowedTools';
  const inEffect = (session.rules?.rules ?? []).filter(({ effect }) => isForAll || effect === 'allow');
  const all = [
    ...used.map((value) => ({ value, note: 'Used in this session' })),
    ...serverRules(session),
    ...inEffect.map(({ rule }) => ({ value: rule, note: 'A rule in effect' })),
    ...presets.flatMap(({ name, options }) =>
      [...options.allowedTools, ...(isForAll ? options.disallowedTools : [])].map((value) => ({
        value,
        note: `In the preset ${name}`,
      })),
    ),
  ];
  const first = new Map(all.toReversed().map((one) => [one.value, one]));
  return all.filter((one) => first.get(one.value) === one);
}

/** The agent's models, without its entry for the default. */
export const modelSuggestions = (models: readonly Model[]): Suggestion[] =>
  models.filter(({ name }) => name !== 'default').map(({ name, label }) => ({ value: name, note: label }));

/** The suggestions that contain what was typed and are not in the list. */
export function matching(all: readonly Suggestion[], typed: string, entries: readonly string[]): Suggestion[] {
  const word = typed.trim().toLowerCase();
  return all.filter(({ value }) => value.toLowerCase().includes(word) && !entries.includes(value));
}
