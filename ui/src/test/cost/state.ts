// Classes of data that a window keeps: rows, items, requests, files, subagents, sessions and lists.

import type { Event, Item, PermissionRequest } from '../../lib/bindings/api';
import { stored } from '../../fake/facts';
import { commandRequest } from '../../fake/script';
import { inOrder } from '../../lib/host/order';
import { ruleGroups } from '../../lib/session/rules/origins';
import { fits, groupRows, inOrder as newestFirst, rowsOf, wordsOf } from '../../lib/session/sessionRows';
import { changedFiles } from '../../lib/session/side/changes';
import { uniqueKeys } from '../../lib/kit/uniqueKeys';
import { Problems } from '../../lib/session/problems.svelte';
import { reuse } from '../../lib/session/reuse';
import { SessionState } from '../../lib/session/session.svelte';
import { bySeverity } from '../../lib/project/trust/groups';
import { at, batch, call, code, paragraph, prompt, session, snapshot, text } from '../make';
import { list, repeat, type Class } from './inputs';

const loaded = (...items: Item[]): SessionState => {
  const state = new SessionState(session());
  state.load(snapshot(0, items));
  return state;
};
const apply = (state: SessionState, events: Event[]) => state.apply(batch(state.seq, events));
const added = (item: Item): Event => ({ type: 'itemAdded', item });
const request = (id: string): PermissionRequest => ({ ...commandRequest(id, 'true'), itemId: null });
const file = (path: string) => ({ path, added: 1, removed: 1, itemId: 'a', row: 0 });
const rows = (n: number) => list(n, (i) => at(i, prompt(`p${i}`)));
// Each step of an open subagent is a row.
const steps = (n: number) => list(n, (i) => ({ ...at(i + 1, call(`c${i}`, 'command', 'agent')), depth: 1 }));
const keys = (n: number) => Object.fromEntries(list(n, (i) => [`k${i}`, i]));
const deep = (n: number): unknown => list(n, (i) => i).reduce<unknown>((inner, i) => ({ inner, i }), null);

const shared = (name: string, make: (n: number) => unknown, other = make): Class => [
  `sharing: ${name}`,
  (n) => {
    const [before, after] = [make(n), other(n)];
    return () => reuse(before, after);
  },
];

export const state: readonly Class[] = [
  [
    'rows: all in a snapshot',
    (n) => {
      const items = rows(n / 4);
      return () => loaded(...items);
    },
  ],
  [
    'rows: all in a batch',
    (n) => {
      const events = rows(n / 8).map(added);
      return () => apply(loaded(), events);
    },
  ],
  [
    'rows: all removed in a batch',
    (n) => {
      const state = loaded(...rows(n / 8));
      const events = list(n / 8, (i): Event => ({ type: 'itemRemoved', itemId: `p${i}` }));
      return () => apply(state, events);
    },
  ],
  [
    'rows: all removed from the end',
    (n) => {
      const state = loaded(...rows(n / 8));
      const events = list(n / 8, (i): Event => ({ type: 'itemRemoved', itemId: `p${i}` })).reverse();
      return () => apply(state, events);
    },
  ],
  [
    'rows: all evicted',
    (n) => {
      const state = loaded(...rows(n / 4));
      const event = batch(state.seq, [], 1, { first: n, end: n + 1, total: n + 1, nContinued: 0, requestId: 2 });
      return () => state.apply(event);
    },
  ],
  [
    'rows: lookups, as many in each as the engine puts there',
    (n) => {
      const events = list(n / 4, (i) => added(at(Math.floor(i / 50), call(`c${i}`, 'read'))));
      return () => apply(loaded(), events);
    },
  ],
  [
    'rows: their lookups removed',
    (n) => {
      const state = loaded(...list(n / 8, (i) => at(Math.floor(i / 50), call(`c${i}`, 'read'))));
      const events = list(n / 8, (i): Event => ({ type: 'itemRemoved', itemId: `c${i}` }));
      return () => apply(state, events);
    },
  ],
  [
    'rows: one item again and again',
    (n) => {
      const state = loaded(at(0, text('t', paragraph('a'))));
      const item = at(0, text('t', paragraph('a')));
      const events = list(n / 4, (): Event => ({ type: 'itemChanged', item: structuredClone(item) }));
      return () => apply(state, events);
    },
  ],
  [
    'text: its last block again and again',
    (n) => {
      const state = loaded(at(0, text('t', ...list(100, (i) => paragraph(`${i}`)))));
      const events = list(n / 8, (i): Event => {
        return { type: 'blocksChanged', itemId: 't', keep: 99, blocks: [paragraph(`${i}`)] };
      });
      return () => apply(state, events);
    },
  ],
  [
    'text: code that grows',
    (n) => {
      const state = loaded(at(0, text('t', code(...list(100, (i) => `${i}`)))));
      const events = list(n / 16, (i): Event => {
        return { type: 'codeGrew', itemId: 't', keep: 99, lines: [{ tokens: [{ text: `${i}`, style: 'plain' }] }] };
      });
      return () => apply(state, events);
    },
  ],
  [
    'subagent: steps in a snapshot',
    (n) => {
      const items = [at(0, call('agent', 'agent')), ...steps(n / 4)];
      return () => loaded(...items);
    },
  ],
  [
    'subagent: steps in a batch',
    (n) => {
      const state = loaded(at(0, call('agent', 'agent')));
      const events = steps(n / 4).map(added);
      return () => apply(state, events);
    },
  ],
  [
    'subagent: steps in reverse order',
    (n) => {
      const state = loaded(at(0, call('agent', 'agent')));
      const events = steps(n / 4)
        .reverse()
        .map(added);
      return () => apply(state, events);
    },
  ],
  [
    'subagent: steps removed',
    (n) => {
      const state = loaded(at(0, call('agent', 'agent')));
      const all = steps(n / 8);
      const removed = all.map(({ id }): Event => ({ type: 'itemRemoved', itemId: id }));
      return () => apply(state, [...all.map(added), ...removed]);
    },
  ],
  [
    'subagent: subagents in subagents',
    (n) => {
      const items = list(n / 8, (i) => ({ ...at(i, call(`c${i}`, 'agent', i === 0 ? null : `c${i - 1}`)), depth: i }));
      return () => loaded(...items);
    },
  ],
  [
    'requests: many in a batch, then answered',
    (n) => {
      const requests = list(n / 8, (i) => request(`r${i}`));
      const asked = requests.map((request): Event => ({ type: 'permissionRequested', request }));
      const answered = requests.map(({ id }): Event => {
        return { type: 'permissionResolved', requestId: id, resolution: { type: 'answered' } };
      });
      const state = loaded();
      return () => apply(state, [...asked, ...answered]);
    },
  ],
  [
    'requests: the session with all of them again',
    (n) => {
      const make = () => session({ requests: list(n / 64, (i) => request(`r${i}`)) });
      const state = loaded();
      const events = [make(), make(), make()].map((session): Event => ({ type: 'sessionChanged', session }));
      return () => apply(state, events);
    },
  ],
  [
    'files: many in a batch',
    (n) => {
      const events = list(n / 8, (i): Event => ({ type: 'fileChanged', file: file(`/p/${i}`) }));
      const state = loaded();
      return () => apply(state, events);
    },
  ],
  [
    'files: one again and again',
    (n) => {
      const events = list(n / 2, (): Event => ({ type: 'fileChanged', file: file('/p/a') }));
      const state = loaded();
      return () => apply(state, events);
    },
  ],
  [
    'files: shown',
    (n) => {
      const files = list(n / 2, (i) => file(`/${'a/'.repeat(i % 9)}b`));
      return () => uniqueKeys(changedFiles(files), ({ path }) => path);
    },
  ],
  ['files: one long path', (n) => () => changedFiles([file(repeat('a/', n))])],
  [
    'keys: equal',
    (n) => () =>
      uniqueKeys(
        list(n, () => 'a'),
        (id) => id,
      ),
  ],
  [
    'keys: almost those that are made',
    (n) => {
      const ids = [...list(n / 2, (i) => `a#${i}`), ...list(n / 2, () => 'a'), ...list(n / 2, (i) => `a#${i}`)];
      return () => uniqueKeys(ids, (id) => id);
    },
  ],
  shared('equal lists', (n) => list(n, (i) => ({ i }))),
  shared(
    'a list with another beginning',
    (n) => list(n, (i) => ({ i })),
    (n) => [{ i: -1 }, ...list(n, (i) => ({ i }))],
  ),
  shared(
    'a list with another end',
    (n) => list(n, (i) => ({ i })),
    (n) => [...list(n, (i) => ({ i })), { i: -1 }],
  ),
  shared('equal keys', keys),
  shared('another last key', keys, (n) => ({ ...keys(n), last: 1 })),
  shared('other values', keys, (n) => Object.fromEntries(list(n, (i) => [`k${i}`, -i - 1]))),
  shared('long texts', (n) => [repeat('word ', 64 * n)]),
  shared(
    'deep values',
    (n) => deep(n / 32),
    (n) => ({ inner: deep(n / 32), i: -1 }),
  ),
  [
    'sessions: rows in groups',
    (n) => {
      const own = list(n / 16, (i) => session({ id: `s${i}`, agentSessionId: `t${i * 2}`, changedAt: (i * 7919) % n }));
      const all = list(n / 4, (i) => stored(`t${i}`, `Title ${i}`, (i * 7919) % n));
      return () => groupRows(rowsOf(own, newestFirst(all)), 1);
    },
  ],
  [
    'sessions: filter',
    (n) => {
      const rows = rowsOf([], [stored('t', 'ab '.repeat(n), 0, { firstPrompt: 'ab '.repeat(n) })]);
      const words = wordsOf('ab '.repeat(8) + 'c');
      return () => rows.filter((row) => fits(row, words));
    },
  ],
  [
    'rules: by origin',
    (n) => {
      const origins = ['session', 'local', 'project', 'user', 'policy'] as const;
      const all = list(n, (i) => ({ effect: 'allow' as const, rule: `${i}`, origin: origins[i % 5] ?? 'user' }));
      return () => ruleGroups({ rules: all } as unknown as Parameters<typeof ruleGroups>[0], null);
    },
  ],
  [
    'findings: by severity',
    (n) => {
      const severities = ['runs', 'changes'] as const;
      const all = list(n, (i) => ({ severity: severities[i % 2] })) as unknown as Parameters<typeof bySeverity>[0];
      return () => bySeverity(all);
    },
  ],
  [
    'problems: many different ones',
    (n) => {
      const problems = new Problems();
      return () =>
        list(n / 8, (i) => problems.report('It failed', { code: 'badCommand', message: `${i}`, detail: null }));
    },
  ],
  [
    'events: in order',
    (n) => {
      const hear = inOrder(
        () => {},
        () => Promise.reject(new Error('gone')),
        () => {},
      );
      return () => list(n / 8, (i) => hear({ type: 'later', nr: i } as never));
    },
  ],
];
