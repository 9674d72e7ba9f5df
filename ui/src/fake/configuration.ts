// What is configured for the agent of a fake session.

import type { Configuration, McpServer } from '../lib/bindings/api';

export const NO_CONFIGURATION: Configuration = {
  requestedAt: null,
  pending: [],
  problems: [],
  servers: null,
  hooks: null,
  plugins: null,
  skills: null,
  subagents: null,
  memory: null,
  changing: [],
  failures: [],
  isReloading: false,
  reloadProblem: null,
  nLeftOut: 0,
};

export function server(name: string, facts: Partial<McpServer> = {}): McpServer {
  return {
    name,
    status: 'connected',
    statusWord: null,
    scope: 'project',
    transport: 'stdio',
    target: `npx -y @example/${name}`,
    serverInfo: `${name} 1.4.0`,
    error: null,
    tools: [
      { name: 'list_issues', isReadOnly: true },
      { name: 'create_issue', isReadOnly: false },
    ],
    nTools: 2,
    ...facts,
  };
}

/** The answer of a version that reports all parts. */
export function configuration(requestedAt: number): Configuration {
  return {
    ...NO_CONFIGURATION,
    requestedAt,
    servers: [
      server('tracker'),
      server('database', {
        status: 'failed',
        error: 'Connection closed',
        serverInfo: null,
        scope: 'user',
        tools: [],
        nTools: 0,
      }),
      server('calendar', {
        status: 'needsAuth',
        transport: 'http',
        target: 'https://calendar.example.org/mcp',
        serverInfo: null,
        tools: [],
        nTools: 0,
      }),
      server('browser', { status: 'disabled', scope: 'local', serverInfo: null, tools: [], nTools: 0 }),
    ],
    hooks: {
      areDisabled: false,
      areManaged: false,
      hooks: [
        {
          event: 'PreToolUse',
          matcher: 'Bash',
          kind: 'command',
          text: './scripts/check.sh',
          origin: 'Project settings (.claude/settings.json)',
          timeoutS: 5,
        },
        {
          event: 'Stop',
          matcher: null,
          kind: 'command',
          text: 'notify-send done',
          origin: 'User settings',
          timeoutS: null,
        },
      ],
    },
    plugins: [{ name: 'review-tools', path: '/home/me/.claude/plugins/review-tools', origin: 'review-tools@team' }],
    skills: [
      {
        name: 'ship',
        description: 'Builds a release and publishes it',
        origin: 'projectSettings',
        path: '/home/me/ledger/.claude/skills/ship/SKILL.md',
        model: null,
      },
    ],
    subagents: [
      {
        name: 'Explore',
        description: 'Reads the code and answers questions',
        origin: null,
        path: null,
        model: 'haiku',
      },
      {
        name: 'reviewer',
        description: 'Reviews a change',
        origin: 'projectSettings',
        path: '/home/me/ledger/.claude/agents/reviewer.md',
        model: null,
      },
    ],
    memory: [{ path: '/home/me/ledger/CLAUDE.md', kind: 'Project', tokens: 420 }],
  };
}
