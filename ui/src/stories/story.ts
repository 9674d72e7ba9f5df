// A story: one component in one state, with its props and an optional interaction.

import { tick, type Component } from 'svelte';

import type { Body, Item, Session } from '../lib/bindings/api';
import { emptySession } from '../fake/facts';
import { FakeSession } from '../fake/session';
import { FakeWindow } from '../fake/window';
import { ItemState } from '../lib/session/item.svelte';
import { SessionState } from '../lib/session/session.svelte';

type Props = Record<string, unknown>;

/** An interaction with the drawn component. */
export type Play = (root: HTMLElement) => Promise<void>;

export interface Story {
  /** The component and its state: “OutputPane: a beginning”. */
  name: string;
  component: Component<Props>;
  props: Props;
  play?: Play | undefined;
  /** The component opens something above itself, which needs space. */
  opensAbove?: boolean | undefined;
}

/** Makes the stories again for each use, because an interaction may change their props. */
export type Page = () => Story[];

/** Svelte's type for the bindable props of a component. */
type ComponentBindings<Given> = keyof Given | '';

/** The stories of a component, one for each named state. */
export function states<Given extends object>(
  name: string,
  component: Component<Given, object, ComponentBindings<Given>>,
  all: Record<string, NoInfer<Given> | [props: NoInfer<Given>, play: Play, opens?: 'above']>,
): Story[] {
  return Object.entries(all).map(([state, given]) => {
    const [props, play, opens] = Array.isArray(given) ? (given as [Given, Play, 'above'?]) : [given];
    return {
      name: `${name}: ${state}`,
      component: component as unknown as Component<Props>,
      props: props as Props,
      play,
      opensAbove: opens === 'above',
    };
  });
}

/** A callback for component events that do not matter. */
export const ignore = () => {};
export const agree = () => Promise.resolve(true);

let nextItem = 1;

export function item(body: Body, { open = false, id = `story-${nextItem++}` } = {}): ItemState {
  const facts: Item = { id, parent: null, row: 0, nr: 0, at: Date.now(), body };
  const state = new ItemState(facts);
  state.open = open;
  return state;
}

/** A session in the form in which a window loads it. */
export function sessionOf(facts: Partial<Session> = {}, bodies: Body[] = []): SessionState {
  const session = new FakeSession({ ...emptySession('s1', 'Round half to even in totals'), ...facts });
  for (const body of bodies) session.add(body);
  const state = new SessionState(session.facts);
  state.load(new FakeWindow(session, { first: null, count: 240, requestId: 1 }).snapshot());
  return state;
}

/** A session with one long text: a row for each slice, as the engine sends them. */
export function slicesOf(bodies: Body[], facts: Partial<Session> = {}): SessionState {
  const session = new FakeSession({ ...emptySession('s1', 'Round half to even in totals'), ...facts });
  for (const body of bodies) session.add(body);
  const [of] = session.items.map((item) => item.id);
  if (of === undefined) throw new Error('no text');
  const nLast = bodies.length - 1;
  session.items.forEach((item, nr) => {
    item.slice = { of, nr, isLast: nr === nLast, block: 0, continues: nr > 0, isContinued: nr < nLast };
  });
  const state = new SessionState(session.facts);
  state.load(new FakeWindow(session, { first: null, count: 240, requestId: 1 }).snapshot());
  const first = state.item(of);
  if (first !== undefined) state.unfold(first, true);
  return state;
}

/** The element that a story wants to use is not drawn. */
export class NotDrawn extends Error {}

function named(root: HTMLElement, selector: string, name: string): HTMLElement {
  const called = (element: HTMLElement) =>
    element.ariaLabel ?? element.getAttribute('aria-label') ?? element.textContent.trim();
  const found = [...root.querySelectorAll<HTMLElement>(selector)].find((one) => called(one).startsWith(name));
  if (found === undefined) throw new NotDrawn(`nothing is called “${name}”`);
  return found;
}

/** Clicks the first button, summary or menu item whose name starts with `name`. */
export async function press(root: HTMLElement, name: string): Promise<void> {
  named(root, 'button, summary, [role^=menuitem]', name).click();
  await tick();
}

/** Lets the fake host answer. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
  await tick();
}

/** Types into the first text box. */
export async function write(root: HTMLElement, text: string): Promise<void> {
  const box = root.querySelector<HTMLTextAreaElement | HTMLInputElement>(
    'textarea, input:not([type=radio], [type=checkbox], [type=file])',
  );
  if (box === null) throw new NotDrawn('there is no box to write into');
  box.focus();
  box.value = text;
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
  await tick();
}
