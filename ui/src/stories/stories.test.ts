// Coverage of the stories: every element of every component is drawn in some scene or story, so that axe and a reviewer
// see it.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { fireEvent, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { parse, type AST } from 'svelte/compiler';
import { describe, expect, it } from 'vitest';

import { App } from '../test/parts';
import { FakeHost } from '../fake/host';
import { sceneNames } from '../fake/scenes';
import { Attention } from '../lib/kit/attention.svelte';
import { ProjectState } from '../lib/project/project.svelte';
import { ManualClock } from '../test/clock';
import { pages } from './all';
import Gallery from './Gallery.svelte';

const UI = resolve(import.meta.dirname, '../..');

/** The source positions of drawn elements, as Svelte records them in development: `src/lib/kit/Menu.svelte:113:0`. */
const drawn = new Set<string>();

function look() {
  for (const element of document.querySelectorAll('*')) {
    const place = (element as { __svelte_meta?: { loc: { file: string; line: number; column: number } } }).__svelte_meta
      ?.loc;
    if (place) drawn.add(`${place.file}:${place.line}:${place.column}`);
  }
}

interface Place {
  place: string;
  source: string;
}

/** The elements in a component's markup. */
function elementsOf(path: string): Place[] {
  const source = readFileSync(join(UI, path), 'utf8');
  const lines = source.split('\n');
  const found: Place[] = [];
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    if (isElement(node)) {
      const before = source.slice(0, node.start).split('\n');
      const place = `${path}:${before.length}:${before.at(-1)?.length ?? 0}`;
      found.push({ place, source: lines[before.length - 1]?.trim() ?? '' });
    }
    for (const part of Object.values(node)) visit(part);
  };
  visit(parse(source, { modern: true }).fragment);
  return found;
}

function isElement(node: object): node is AST.RegularElement {
  return 'type' in node && (node.type === 'RegularElement' || node.type === 'SvelteElement');
}

async function scene(name: string, act: () => Promise<unknown> = tick) {
  const { unmount, findByRole } = render(App, { host: new FakeHost(name) });
  await findByRole('main');
  await tick();
  await act();
  look();
  unmount();
}

const press = (key: string) => fireEvent.keyDown(document.body, { key, ctrlKey: true });

/** The time limit in milliseconds for drawing all stories and scenes in sequence. */
const DEADLINE = 120_000;

describe('the stories', () => {
  it('show every element of every component, with the scenes', { timeout: DEADLINE }, async () => {
    for (const page of Object.values(pages)) {
      const project = await ProjectState.start(new FakeHost('conversation'));
      const props = { stories: page(), project, attention: new Attention(), clock: new ManualClock() };
      const { component, unmount } = render(Gallery, props);
      await tick();
      await component.play();
      await tick();
      look();
      unmount();
    }
    for (const name of sceneNames) await scene(name);
    await scene('conversation', () => press('j'));
    await scene('conversation', () => fireEvent.keyDown(document.body, { key: 'F10' }));
    await scene('conversation', () => fireEvent.keyDown(document.body, { key: 'a', altKey: true }));
    const { matchMedia } = window;
    window.matchMedia = (query) => ({ ...matchMedia(query), matches: query.includes('820px') });
    await scene('conversation', () => press('j'));
    window.matchMedia = matchMedia;

    const components = readdirSync(join(UI, 'src/lib'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.svelte'))
      .map((path) => `src/lib/${path.replaceAll('\\', '/')}`);
    expect(components.length).toBeGreaterThan(50);
    const missing = components.flatMap(elementsOf).filter(({ place }) => !drawn.has(place));
    expect(missing).toEqual([]);
  });
});
