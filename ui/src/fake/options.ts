// The options of a session in the fake host.

import type { OptionProblem, OptionsReview, SessionOptions } from '../lib/bindings/api';

const RULE = /^[A-Za-z][\w-]*(\([^()]+\))?$/;

/** As in the engine, a rule has a form, and each is in a list once. */
const ruleProblems = (options: SessionOptions, field: 'allowedTools' | 'disallowedTools'): OptionProblem[] =>
  options[field].flatMap((rule, index, rules) => {
    if (!RULE.test(rule)) {
      const message = 'Enter one rule, such as Read, Bash(git status) or mcp__server__tool.';
      return [{ field, index, message }];
    }
    return rules.indexOf(rule) < index ? [{ field, index, message: 'This entry is in the list already.' }] : [];
  });

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
    problems: [...problems, ...ruleProblems(options, 'allowedTools'), ...ruleProblems(options, 'disallowedTools')],
    warnings: [
      ...options.allowedTools
        .map((rule, index) => ({ rule, index }))
        .filter(({ rule }) => rule === 'Bash')
        .map(({ rule, index }) => ({
          field: 'allowedTools' as const,
          index,
          message: `${rule} is broad. Every command runs without asking.`,
        })),
      ...(systemPrompt?.replace === true
        ? [{ field: 'systemPrompt' as const, index: null, message: 'It replaces all of the agent’s own instructions.' }]
        : []),
    ],
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
