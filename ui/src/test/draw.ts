// Draws a component in a window for a test.

import { render, type RenderResult } from '@testing-library/svelte';
import type { Component } from 'svelte';

import { FakeHost } from '../fake/host';
import * as cards from '../lib/session/asking/later';
import * as box from '../lib/session/composer/later';
import * as list from '../lib/project/sessions/later';
import * as dialogs from '../lib/session/conversation/later';
import { Attention } from '../lib/kit/attention.svelte';
import { ProjectState } from '../lib/project/project.svelte';
import { ManualClock } from './clock';
import Harness from './Harness.svelte';

// Tests of a dialog or a card do not wait for its script.
await Promise.all(Object.values({ ...cards, ...box, ...list, ...dialogs }).map((part) => part.load()));

export interface Drawn<Props> extends RenderResult<typeof Harness> {
  host: FakeHost;
  project: ProjectState;
  attention: Attention;
  clock: ManualClock;
  /** Draws again with other props. */
  redraw(props: Partial<Props>): Promise<void>;
}

export async function draw<Props extends Record<string, unknown>>(
  component: Component<Props>,
  props: Props,
  { scene = 'empty', focused = true } = {},
): Promise<Drawn<Props>> {
  const host = new FakeHost(scene);
  const project = await ProjectState.start(host);
  const attention = new Attention();
  attention.focused = focused;
  const clock = new ManualClock();
  const given = { component: component as Component<Record<string, unknown>>, project, attention, clock };
  const drawn = render(Harness, { ...given, inner: props });
  const redraw = (more: Partial<Props>) => drawn.rerender({ ...given, inner: { ...props, ...more } });
  return Object.assign(drawn, { host, project, attention, clock, redraw }) as Drawn<Props>;
}
