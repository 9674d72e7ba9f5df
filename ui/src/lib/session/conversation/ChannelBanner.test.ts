import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import type { MissedPrompt } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { ManualClock } from '../../../test/clock';
import { draw } from '../../../test/draw';
import ChannelBanner from './ChannelBanner.svelte';

const UNASKED: MissedPrompt = {
  kind: 'unasked',
  words: 'The agent ran a command without asking.',
  subject: 'touch a\u202etxt.b',
};
const CANNOT_ASK: MissedPrompt = {
  kind: 'cannotAsk',
  words: 'The agent cannot ask you for permission.',
  subject: null,
};

const banner = () => screen.queryByRole('alert', { name: 'Missed permission request' });

describe('an agent that does not ask', () => {
  it('is told with what it did, and every character of it', async () => {
    await draw(ChannelBanner, { fault: UNASKED, onstop: () => {} });
    const text = banner()?.textContent ?? '';
    expect(text).toContain('The agent ran a command without asking.');
    expect(text).toContain('touch a\\u{202E}txt.b');
    expect(text).toContain('stop the agent');
  });

  it('is told in other words if it has nobody to ask', async () => {
    await draw(ChannelBanner, { fault: CANNOT_ASK, onstop: () => {} });
    const text = banner()?.textContent ?? '';
    expect(text).toContain('The agent cannot ask you for permission.');
    expect(text).toContain('may no longer be able to ask');
    expect(text, 'nothing is said of what it did not do').not.toContain('No permission rule');
    expect(banner()?.querySelector('code')).toBeNull();
  });

  it('can be stopped, and not put away', async () => {
    let stopped = 0;
    await draw(ChannelBanner, { fault: UNASKED, onstop: () => (stopped += 1) });
    const buttons = within(banner() as HTMLElement).getAllByRole('button');
    expect(buttons.map((button) => button.textContent)).toEqual(['Stop the agent']);
    await userEvent.setup().click(buttons[0] as HTMLElement);
    expect(stopped).toBe(1);
  });

  it('is told in the window for as long as the engine says so', async () => {
    const host = new FakeHost('unasked');
    onTestFinished(() => host.close());
    render(App, { host, clock: new ManualClock() });
    await screen.findByRole('main');
    expect(banner()?.textContent).toContain('cargo test -p ledger totals');
    await userEvent.setup().click(screen.getByRole('button', { name: 'Stop the agent' }));
    expect(host.session('s1')?.facts.alive).toBe(false);
    host.session('s1')?.patch({ missedPrompt: null });
    await vi.waitFor(() => expect(banner()).toBeNull());
  });
});

it('accuses no agent that asks', async () => {
  const host = new FakeHost('permission');
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  expect(banner()).toBeNull();
});
