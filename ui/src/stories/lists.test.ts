// Every kind of list of every component with equal entries, with none and with very many: the page has to draw it
// without an error.

import { render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import { FakeHost } from '../fake/host';
import { ItemState } from '../lib/session/item.svelte';
import { ProjectState } from '../lib/project/project.svelte';
import { SessionState } from '../lib/session/session.svelte';
import { BoardPage } from '../lib/window/board/board.svelte';
import { SearchState } from '../lib/project/search.svelte';
import { Attention } from '../lib/kit/attention.svelte';
import { ManualClock } from '../test/clock';
import Harness from '../test/Harness.svelte';
// Loads the parts of the page that come later.
import '../test/parts';
import { pages } from './all';
import { NotDrawn, type Page, type Story } from './story';

type Path = readonly (string | number)[];

/** Fields that are class accessors and therefore not enumerable. */
const FIELDS: readonly [abstract new (...given: never[]) => object, readonly string[]][] = [
  [SessionState, ['session', 'requests', 'files', 'tasks']],
  [ItemState, ['body']],
  [SearchState, ['found']],
  [BoardPage, ['board']],
];

function fieldsOf(value: object): readonly string[] {
  const known = FIELDS.find(([type]) => value instanceof type);
  if (known !== undefined) return known[1];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.keys(value) : [];
}

const fieldOf = (value: object, name: string | number) => (value as Record<string | number, unknown>)[name];

/** The paths of all lists in a value. */
function listsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [path] : [];
  return [...own, ...fieldsOf(value).flatMap((name) => listsIn(fieldOf(value, name), [...path, name]))];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, name) => fieldOf(inner as object, name), value);
}

/** Returns the value with the list at that path replaced. Plain data is copied, because stories share some of it. */
function withList(value: unknown, [name, ...rest]: Path, list: readonly unknown[]): unknown {
  if (name === undefined) return list;
  if (typeof value !== 'object' || value === null) throw new Error(`no list at ${String(name)}`);
  const inner = withList(fieldOf(value, name), rest, list);
  if (Array.isArray(value)) return value.map((entry: unknown, i) => (i === Number(name) ? inner : entry));
  if (Object.getPrototypeOf(value) === Object.prototype) return { ...value, [name]: inner };
  Object.assign(value, { [name]: inner });
  return value;
}

/** One story with its own data. */
interface Case {
  name: string;
  page: Page;
  at: number;
}

const cases: Case[] = Object.values(pages).flatMap((page) => page().map(({ name }, i) => ({ name, page, at: i })));

async function draws(story: Story, path: Path, list: readonly unknown[]): Promise<void> {
  const host = new FakeHost('conversation');
  const project = await ProjectState.start(host);
  const inner = withList(story.props, path, list) as Record<string, unknown>;
  const given = { component: story.component, inner, project, attention: new Attention(), clock: new ManualClock() };
  const drawn = render(Harness, given);
  await tick();
  try {
    await story.play?.(drawn.container);
  } catch (error) {
    // The element that the story uses can belong to an entry of the list.
    if (!(error instanceof NotDrawn)) throw error;
  }
  await tick();
  const where = `${story.name}, ${path.join('.')}, ${list.length} entries`;
  expect(host.pageErrors, where).toEqual([]);
  drawn.unmount();
  host.close();
}

const story = ({ page, at }: Case): Story => page()[at] as Story;

/** The component of a story and the names on the path. Lists of one kind differ in their stories or places. */
const kindOf = (name: string, path: Path) =>
  `${name.split(':')[0]}: ${path.filter((part) => !/^\d+$/.test(String(part))).join('.')}`;

describe('a list', () => {
  // Of each kind the first and the last: most stories of a component share their lists.
  const all = cases.flatMap((one) => listsIn(story(one).props).map((path) => [one, path] as const));
  const kind = ([{ name }, path]: (typeof all)[number]) => kindOf(name, path);
  const first = new Map(all.toReversed().map((list) => [kind(list), list]));
  const last = new Map(all.map((list) => [kind(list), list]));
  const chosen = new Set([...first.values(), ...last.values()]);
  const wanted = cases.map((one) => {
    const paths = all.filter((list) => list[0] === one && chosen.has(list)).map(([, path]) => path);
    return [one.name, one, paths] as const;
  });
  it.each(wanted.filter(([, , paths]) => paths.length > 0))('of “%s”', async (_name, one, paths) => {
    for (const path of paths) {
      await draws(story(one), path, []);
      const [first] = at(story(one).props, path) as unknown[];
      if (first === undefined) continue;
      await draws(story(one), path, [first, first, copied(first)]);
    }
  });
});

/** The length of a list that exceeds any screen. `DESKBELL_LIST_ENTRIES=10000` takes minutes. */
const MANY = Number(process.env['DESKBELL_LIST_ENTRIES'] ?? 300);
/** Lists that the engine sends in parts of at most 15,000 elements. */
const IN_PARTS = /\b(blocks|hunks|lines)\b/;

describe('a list of very many', () => {
  const lists = new Map<string, [Case, Path]>();
  for (const one of cases) {
    const { name, props } = story(one);
    for (const path of listsIn(props)) {
      const [first] = at(props, path) as unknown[];
      const kind = kindOf(name, path);
      if (first !== undefined && !lists.has(kind) && !IN_PARTS.test(kind)) lists.set(kind, [one, path]);
    }
  }
  it.each([...lists])('%s', { timeout: 200 * MANY }, async (_kind, [one, path]) => {
    const [first] = at(story(one).props, path) as unknown[];
    await draws(story(one), path, Array<unknown>(MANY).fill(first));
  });
});

/** An equal entry that is a different object, as received from the shell. */
function copied(entry: unknown): unknown {
  if (Array.isArray(entry)) return [...(entry as unknown[])];
  const isPlain = typeof entry === 'object' && entry !== null && Object.getPrototypeOf(entry) === Object.prototype;
  return isPlain ? { ...entry } : entry;
}
