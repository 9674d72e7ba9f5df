// Entry point of the page on which `shots/cost.js` measures what only a browser can: elements, layout and painting.

import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '../../app.css';

import { flushSync, mount, unmount, type Component } from 'svelte';

import { FakeHost } from '../../lib/host/fake';
import { Attention, systemClock } from '../../lib/state/attention.svelte';
import { ProjectState } from '../../lib/state/project.svelte';
import Harness from '../Harness.svelte';
import { drawings, type Drawing } from './drawings';

declare global {
  interface Window {
    /** The names of all classes. */
    classes: readonly string[];
    /** Makes an input of the class. */
    prepare: (name: string, n: number) => Promise<void>;
    /** Draws it, and waits until it was painted. */
    draw: () => Promise<void>;
    /** Removes it. */
    clear: () => Promise<void>;
  }
}

const project = await ProjectState.start(new FakeHost('empty'));
const target = document.createElement('div');
document.getElementById('app')?.append(target);
target.style.width = '720px';
target.style.height = '700px';
target.style.overflow = 'auto';

function draw(component: Component<Record<string, unknown>>, inner: Record<string, unknown>): () => Promise<void> {
  const props = { component, inner, project, attention: new Attention(), clock: systemClock };
  const drawn = mount(Harness, { target, props });
  flushSync();
  return () => unmount(drawn);
}

/** Waits until the frame with the last change was drawn. */
const painted = () => new Promise<void>((done) => requestAnimationFrame(() => setTimeout(done)));

let next: Drawing | null = null;
let remove: (() => Promise<void>) | null = null;

window.classes = drawings.map(([name]) => name);
window.prepare = async (name, n) => {
  const make = drawings.find(([known]) => known === name)?.[1];
  if (make === undefined) throw new Error(`there is no class “${name}”`);
  next = make(n);
  if (!('change' in next)) return;
  target.append(next.element);
  await painted();
};
window.draw = async () => {
  if (next === null) throw new Error('nothing was prepared');
  if ('change' in next) next.change();
  else remove = draw(next.component, next.props);
  // Lays out the page.
  void target.scrollHeight;
  await painted();
};
window.clear = async () => {
  await remove?.();
  remove = null;
  target.replaceChildren();
};
document.documentElement.dataset['ready'] = 'true';
