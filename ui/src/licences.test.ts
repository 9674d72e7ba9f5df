import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

const UI = join(import.meta.dirname, '..');

interface Package {
  name: string;
  license?: string;
  dependencies?: Record<string, string>;
}

const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;

/** The folder of a package as Node finds it from another one. */
function found(name: string, from: string): string {
  for (let folder = from; folder.startsWith(UI); folder = join(folder, '..')) {
    const there = join(folder, 'node_modules', name);
    if (existsSync(there)) return there;
  }
  throw new Error(`${name} is not installed`);
}

/** The packages with these names and everything that they depend on. */
function closure(names: readonly string[], from: string, into = new Map<string, Package>()): Map<string, Package> {
  for (const name of names) {
    const folder = found(name, from);
    if (into.has(folder)) continue;
    const one = read(folder);
    into.set(folder, one);
    closure(Object.keys(one.dependencies ?? {}), folder, into);
  }
  return into;
}

it('ships packages with an allowed licence only', () => {
  const text = readFileSync(join(UI, '../tests/licences.txt'), 'utf8');
  const allowed = new Set(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')));
  // The compiled components contain parts of Svelte, which is needed only to build them.
  const names = [...Object.keys(read(UI).dependencies ?? {}), 'svelte'];
  const packages = [...closure(names, UI).values()];
  expect(packages.length).toBeGreaterThan(names.length);
  const isAllowed = ({ license = '' }: Package) => license.split(' OR ').some((one) => allowed.has(one));
  expect(packages.filter((one) => !isAllowed(one)).map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
});
