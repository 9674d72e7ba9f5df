// The mark of the document by which nothing turns in a window behind others.

import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import { App } from '../../test/parts';
import { FakeHost } from '../../fake/host';
import { ManualClock } from '../../test/clock';

it.each(['conversation', 'board'])('the document of a window without the focus is marked: %s', async (scene) => {
  const host = new FakeHost(scene);
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  const isBehind = () => document.documentElement.hasAttribute('data-behind');

  await fireEvent.focus(window);
  expect(isBehind()).toBe(false);
  await fireEvent.blur(window);
  expect(isBehind()).toBe(true);
  await fireEvent.focus(window);
  expect(isBehind()).toBe(false);
  host.close();
});
