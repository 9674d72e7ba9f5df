// Completion of slash commands.

import type { SlashCommand } from '../../bindings/api';

const MAX = 50;

/** The commands that match a box with a slash and part of a name; `null` if no command name is being typed. */
export function completions(commands: readonly SlashCommand[], text: string): SlashCommand[] | null {
  const typed = /^\/([^\s/]*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return null;
  const starts: SlashCommand[] = [];
  const contains: SlashCommand[] = [];
  for (const command of commands) {
    const name = command.name.toLowerCase();
    if (name.startsWith(typed)) starts.push(command);
    else if (name.includes(typed)) contains.push(command);
  }
  return [...starts, ...contains].slice(0, MAX);
}
