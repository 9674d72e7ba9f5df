// The window of a project on the fake host, for tests that use it as a person does.

import { render, screen } from '@testing-library/svelte';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import { tick } from 'svelte';
import { onTestFinished } from 'vitest';

import { App } from './parts';
import type { SidePanels } from '../lib/bindings/api';
import { FakeHost } from '../fake/host';
import { ManualClock } from './clock';

export interface OpenedApp {
  host: FakeHost;
  clock: ManualClock;
  user: UserEvent;
  unmount: () => void;
}

/** `panels` are as an earlier window of the project left them. */
export async function openApp(scene = 'conversation', panels?: SidePanels): Promise<OpenedApp> {
  const host = new FakeHost(scene);
  if (panels !== undefined) host.panels = panels;
  return openHost(host);
}

/** The app with this host, after its first drawing. */
export async function openHost(host: FakeHost): Promise<OpenedApp> {
  onTestFinished(() => host.close());
  const clock = new ManualClock();
  const { unmount } = render(App, { host, clock });
  await screen.findByRole('main');
  await tick();
  return { host, clock, user: userEvent.setup(), unmount };
}

export const promptBox = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
