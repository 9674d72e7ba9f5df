// One state of one component, to be looked at: what it is given, and what is done to it then.

import { tick, type Component } from 'svelte';

import type { Body, Item, Session } from '../lib/bindings/api';
import { emptySession } from '../lib/host/fake/facts';
import { FakeSession } from '../lib/host/fake/session';
import { FakeWindow } from '../lib/host/fake/window';
import { ItemState } from '../lib/state/item.svelte';
import { SessionState } from '../lib/state/session.svelte';

type Props = Record<string, unknown>;

/** What a hand would do to what was drawn. */
export type Play = (root: HTMLElement) => Promise<void>;

export interface Story {
  /** The component and its state: “PartBar: in the middle”. */
  name: string;
  component: Component<Props>;
  props: Props;
  play?: Play | undefined;
  /** What opens above it needs room. */
  opensAbove?: boolean | undefined;
}

/** Made anew for every look: what is given may change under the hand. */
export type Page = () => Story[];

/** As Svelte types what a component lets be bound. */
type ComponentBindings<Given> = keyof Given | '';

/** The states of a component, by name. */
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

/** For what a component tells when it is used. */
export const ignore = () => {};
export const agree = () => Promise.resolve(true);

let nextItem = 1;

export function item(
  body: Body,
  { parts = 1, first = 0, part = 0, open = false, id = `story-${nextItem++}` } = {},
): ItemState {
  const facts: Item = { id, parent: null, row: 0, nr: 0, at: Date.now(), parts, part: first, body };
  const state = new ItemState(facts);
  state.open = open;
  if (part > 0) state.showPart(part, body);
  return state;
}

/** A session as a window holds it. */
export function sessionOf(facts: Partial<Session> = {}, bodies: Body[] = []): SessionState {
  const session = new FakeSession({ ...emptySession('s1', 'Round half to even in totals'), ...facts });
  for (const body of bodies) session.add(body);
  const state = new SessionState(session.facts);
  state.load(new FakeWindow(session, { first: null, count: 240, ask: 1 }).snapshot());
  return state;
}

function named(root: HTMLElement, selector: string, name: string): HTMLElement {
  const called = (element: HTMLElement) =>
    element.ariaLabel ?? element.getAttribute('aria-label') ?? element.textContent.trim();
  const found = [...root.querySelectorAll<HTMLElement>(selector)].find((one) => called(one).startsWith(name));
  if (found === undefined) throw new Error(`nothing is called “${name}”`);
  return found;
}

/** Presses the first button, or what is pressed like one, whose name begins so. */
export async function press(root: HTMLElement, name: string): Promise<void> {
  named(root, 'button, summary, [role^=menuitem]', name).click();
  await tick();
}

/** Writes into the first box. */
export async function write(root: HTMLElement, text: string): Promise<void> {
  const box = root.querySelector<HTMLTextAreaElement | HTMLInputElement>(
    'textarea, input:not([type=radio], [type=checkbox], [type=file])',
  );
  if (box === null) throw new Error('there is no box to write into');
  box.focus();
  box.value = text;
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
  await tick();
}
