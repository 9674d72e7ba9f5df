import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { App } from '../../../test/parts';
import { ManualClock } from '../../../test/clock';
import { FakeHost } from '../../../fake/host';

beforeEach(() => localStorage.clear());

const NAME = 'Processes of an earlier run';

async function app(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  const ended: number[][] = [];
  const end = host.endOrphans.bind(host);
  host.endOrphans = (pids) => {
    ended.push(pids);
    return end(pids);
  };
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  return { host, ended, user: userEvent.setup() };
}

describe('what an earlier run left behind', () => {
  it('is not spoken of where there is nothing', async () => {
    await app('conversation');
    expect(screen.queryByRole('region', { name: NAME })).toBeNull();
  });

  it('is shown with what it is, and beside it one can work', async () => {
    await app('orphans');
    const banner = screen.getByRole('region', { name: NAME });
    expect(within(banner).getByRole('status').textContent).toContain(
      '2 processes of an earlier run are still running.',
    );
    const rows = within(banner).getAllByRole('listitem');
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringMatching(/npm run dev -- --port 5173.*process 48213, since .+, in\s+\/home\/ines\/ledger\/web/s),
      expect.stringMatching(/sleep 600.*process 48377/s),
    ]);
    screen.getByRole('textbox', { name: 'Prompt' });
  });

  it('is ended by the numbers that were shown', async () => {
    const { ended, user } = await app('orphans');
    await user.click(screen.getByRole('button', { name: 'End them' }));
    expect(ended).toEqual([[48_213, 48_377]]);
    expect(screen.queryByRole('region', { name: NAME })).toBeNull();
  });

  it('is left alone if that is wished', async () => {
    const { ended, user } = await app('orphans');
    await user.click(screen.getByRole('button', { name: 'Leave them running' }));
    expect(ended).toEqual([]);
    expect(screen.queryByRole('region', { name: NAME })).toBeNull();
  });

  it('stays, with what went wrong, where it could not be ended', async () => {
    const { host, user } = await app('orphans');
    const error = { code: 'internal' as const, message: 'Not every process could be ended.', detail: 'process 48213' };
    host.endOrphans = () => Promise.reject(error);
    await user.click(screen.getByRole('button', { name: 'End them' }));
    expect(screen.getByRole('alert').textContent).toContain('Not every process could be ended.');
    const again = screen.getByRole('button', { name: 'End them' });
    expect(again.getAttribute('aria-busy')).toBeNull();
    expect(document.activeElement).toBe(again);
  });
});
