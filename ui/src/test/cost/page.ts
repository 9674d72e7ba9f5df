// Entry point of the page on which `shots/cost.js` measures what only a browser can: elements, layout and painting.

import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '../../app.css';

import { flushSync, mount, unmount, type Component } from 'svelte';

import { FakeHost } from '../../fake/host';
import { Attention, systemClock } from '../../lib/kit/attention.svelte';
import { ProjectState } from '../../lib/project/project.svelte';
import Harness from '../Harness.svelte';
import { drawings, type Drawing } from './drawings';
import { answer, changesOf, streamed, type Streamed, type Way } from './streams';

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
    /** Prepares a streamed answer of about `n` characters. */
    prepareStream: (way: Way, perFrame: number, n: number) => Promise<void>;
    /** Draws it frame by frame. Returns the time between frames in milliseconds, and the most elements. */
    stream: () => Promise<{ frames: number[]; elements: number }>;
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

/** Waits until the frame with the last change was drawn: the next one begins after it. */
const painted = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

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
  stream = null;
  target.replaceChildren();
  target.style.display = '';
  target.style.overflow = 'auto';
};

let stream: Streamed | null = null;

window.prepareStream = async (way, perFrame, n) => {
  const text = answer(n);
  const changes = way === 'plain' ? [] : changesOf(text, perFrame);
  stream = streamed(way, text, changes, perFrame);
  if (stream.element !== undefined) target.append(stream.element);
  else if (stream.component !== undefined) {
    target.style.display = 'flex';
    target.style.overflow = 'hidden';
    remove = draw(stream.component, stream.props ?? {});
  }
  await painted();
};
window.stream = async () => {
  const { frame } = stream ?? {};
  if (frame === undefined) throw new Error('nothing was prepared');
  const frames: number[] = [];
  let elements = 0;
  let before = performance.now();
  for (let isMore = true; isMore;) {
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - before);
    before = now;
    isMore = frame();
    if (frames.length % 30 === 0 || !isMore) elements = Math.max(elements, target.getElementsByTagName('*').length);
  }
  await painted();
  return { frames, elements };
};
document.documentElement.dataset['ready'] = 'true';
