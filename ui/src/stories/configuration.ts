// Stories of the page of servers, hooks and skills.

import { tick } from 'svelte';

import type { Configuration, Session } from '../lib/bindings/api';
import ConfigurationDialog from '../lib/session/configuration/ConfigurationDialog.svelte';
import { configuration, NO_CONFIGURATION, server } from '../fake/configuration';
import { emptySession } from '../fake/facts';
import { SERVER_LOGS } from '../fake/script';
import { RULES } from '../fake/rules';
import { ignore, states, type Page } from './story';

const page = (facts: Partial<Session>, all: Configuration = configuration(Date.now())) => ({
  session: {
    ...emptySession('s1', 'Round half to even in totals'),
    alive: true,
    commands: [{ name: 'compact', description: 'Summarizes the conversation', argumentHint: '<instructions>' }],
    configuration: all,
    ...facts,
  },
  onread: ignore,
  onreconnect: ignore,
  onenable: ignore,
  onreload: ignore,
  onlog: (name: string) => Promise.resolve(SERVER_LOGS.find(([one]) => one === name)?.[1] ?? null),
  onclose: ignore,
});

const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe';

export const configured: Page = () => [
  ...states('ConfigurationDialog', ConfigurationDialog, {
    'all parts': page({ rules: RULES }),
    'all parts, unfolded': [
      page({ rules: RULES }),
      async (root) => {
        for (const fold of root.querySelectorAll('details')) fold.open = true;
        await tick();
      },
    ],
    'the error output of a server': [
      page({}),
      async (root) => {
        for (const one of root.querySelectorAll<HTMLElement>('[aria-expanded="false"]')) one.click();
        await tick();
      },
    ],
    'a server of which nothing was kept': [
      page({}, { ...configuration(Date.now()), servers: [server('gone', { status: 'failed', tools: [], nTools: 0 })] }),
      async (root) => {
        for (const one of root.querySelectorAll<HTMLElement>('[aria-expanded="false"]')) one.click();
        await tick();
      },
    ],
    'asking the agent': page({}, { ...NO_CONFIGURATION, pending: ['servers', 'hooks', 'extensions'] }),
    'nothing is configured': page(
      { rules: { ...RULES, rules: [], directories: [] } },
      {
        ...NO_CONFIGURATION,
        requestedAt: Date.now(),
        servers: [],
        hooks: { hooks: [], areDisabled: false, areManaged: false },
        plugins: [],
        skills: [],
        memory: [],
      },
    ),
    'a change is carried out, another failed': page(
      {},
      {
        ...configuration(Date.now()),
        changing: ['tracker'],
        failures: [{ server: 'database', text: 'The agent could not do it: Connection closed' }],
        isReloading: true,
      },
    ),
    'of a version that does not report its hooks': page(
      { rules: { ...RULES, basis: 'settings' } },
      {
        ...configuration(Date.now()),
        hooks: null,
        problems: [{ part: 'hooks', text: 'This version of the agent does not report its hooks.' }],
        reloadProblem: '1 plugin could not be loaded.',
      },
    ),
    'parts that did not come': page(
      {},
      {
        ...NO_CONFIGURATION,
        requestedAt: Date.now(),
        servers: configuration(0).servers,
        problems: (['servers', 'hooks', 'extensions'] as const).map((part) => ({
          part,
          text: 'The agent did not answer within 20 s.',
        })),
      },
    ),
    'many servers': page(
      {},
      {
        ...configuration(Date.now()),
        servers: [
          server('more tools than are listed', { nTools: 800 }),
          server('tools that are not listed', { tools: [], nTools: 12 }),
          ...Array.from({ length: 18 }, (_, i) => server(`server-${i}`, { tools: [], nTools: 0 })),
        ],
        nLeftOut: 40,
      },
    ),
    'names that try to mislead': page(
      {},
      {
        ...configuration(Date.now()),
        servers: [
          server(HOSTILE, { status: 'failed', error: `${HOSTILE}\nsecond line`, target: HOSTILE.repeat(8) }),
          server('n'.repeat(200), { status: 'other', statusWord: HOSTILE, scope: HOSTILE }),
        ],
        skills: [
          { name: HOSTILE, description: HOSTILE.repeat(5), origin: HOSTILE, path: 'p'.repeat(400), model: null },
        ],
      },
    ),
    'a restricted agent': page({ restricted: true }, { ...configuration(Date.now()), servers: [] }),
    starting: page({ status: { type: 'starting' } }, NO_CONFIGURATION),
    'the agent does not run': page({ alive: false }, NO_CONFIGURATION),
  }),
];
