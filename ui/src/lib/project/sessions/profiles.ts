// Profiles in words, for the settings page and the dialog of a new session.

import type { Profile } from '../../bindings/api';
import { PROFILE_AGENTS } from '../../bindings/agents';

/** The names of agents, by their id. */
export const agentNames: ReadonlyMap<string, string> = new Map(PROFILE_AGENTS.map(({ id, name }) => [id, name]));

/** What a profile starts, in words. Never the value of a variable: it may be a key. `names`: agents by their id. */
export function profileWords(profile: Profile, names: ReadonlyMap<string, string> = agentNames): string {
  const { agent, command, program, environment, model, effort, mode } = profile;
  const other = agent === null ? 'Claude Code' : (names.get(agent) ?? agent);
  const words = [command === null ? other : `Runs ${[command.program, ...command.args].join(' ')}`];
  if (program !== null) words.push(`program ${program}`);
  if (environment.length > 0) words.push(`sets ${environment.map(({ name }) => name).join(', ')}`);
  if (model !== null) words.push(`model ${model}`);
  if (effort !== null) words.push(`effort ${effort}`);
  if (mode !== null) words.push(`mode ${mode}`);
  return words.join(' · ');
}
