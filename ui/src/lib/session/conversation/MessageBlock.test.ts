import { screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';

import type { Sender } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { openHost } from '../../../test/app';

async function messageOf(sender: Partial<Sender>) {
  const host = new FakeHost('normal');
  const openSender = vi.spyOn(host, 'openSender');
  const { user } = await openHost(host);
  const docs = { name: 'docs', agentSessionId: 'of-docs', folder: '/home/ada/docs', ...sender };
  const text = 'Please look at the totals of May.';
  host.session('s1')?.add({ type: 'message', sender: docs, text }, null, 'from-docs');
  await screen.findByText(text);
  return { host, user, openSender };
}

const button = () => screen.queryByRole('button', { name: 'Open session' });

it('leads to its sender in another project', async () => {
  const { host, user, openSender } = await messageOf({});
  await user.click(button() as HTMLElement);
  expect(openSender).toHaveBeenCalledExactlyOnceWith('s1', 'from-docs');
  expect(host.shown).toEqual([['of-docs', null]]);
});

it('leads nowhere if the agent does not report its sender', async () => {
  await messageOf({ agentSessionId: null });
  expect(button()).toBeNull();
});

it('says why its sender could not be opened', async () => {
  const { host, user } = await messageOf({});
  const message = 'The folder of this session no longer exists.';
  vi.spyOn(host, 'openSender').mockRejectedValueOnce({ code: 'badProject', message, detail: null });
  await user.click(button() as HTMLElement);
  await screen.findByText(new RegExp(message, 'u'));
});
