// The options of a session in the fake host.

import type { OptionsReview, SessionOptions } from '../lib/bindings/api';

/** What an agent would be started with. As in the engine, an argument that is not on the list is refused. */
export function reviewOf(options: SessionOptions): OptionsReview {
  const refused = options.arguments.map((argument, index) => ({ argument, index }));
  const problems = refused
    .filter(({ argument }) => !['--debug', '--no-chrome'].includes(argument))
    .map(({ argument, index }) => ({
      field: 'arguments' as const,
      index,
      message: `${argument} is not possible: its effect on asking and trust is unknown.`,
    }));
  const { systemPrompt, maxTurns, maxBudgetUsd } = options;
  const prompt = systemPrompt?.replace === true ? '--system-prompt' : '--append-system-prompt';
  return {
    problems,
    warnings: options.allowedTools
      .map((rule, index) => ({ rule, index }))
      .filter(({ rule }) => rule === 'Bash')
      .map(({ rule, index }) => ({
        field: 'allowedTools',
        index,
        message: `${rule} is broad. Every command runs without asking.`,
      })),
    servers:
      options.mcpConfig === null
        ? []
        : [{ title: 'Starts a server', name: 'tracker', command: "node /opt/tracker/server.js --mode 'read only'" }],
    program: '/home/ada/.local/bin/claude',
    obstacle: null,
    arguments: [
      '-p',
      '--input-format=stream-json',
      '--output-format=stream-json',
      '--permission-prompt-tool=stdio',
      ...(options.model === null ? [] : [`--model=${options.model}`]),
      ...(systemPrompt === null ? [] : [`${prompt}=${systemPrompt.text}`]),
      ...(maxTurns === null ? [] : [`--max-turns=${maxTurns}`]),
      ...(maxBudgetUsd === null ? [] : [`--max-budget-usd=${maxBudgetUsd}`]),
      ...options.folders.map((folder) => `--add-dir=${folder}`),
      ...options.allowedTools.map((rule) => `--allowedTools=${rule}`),
      ...options.disallowedTools.map((rule) => `--disallowedTools=${rule}`),
      ...(options.mcpConfig === null ? [] : [`--mcp-config=${options.mcpConfig}`]),
      ...options.arguments,
    ],
    environment: options.environment,
  };
}
