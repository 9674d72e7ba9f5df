import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { draw } from '../../../test/draw';
import type { Checkup } from '../../bindings/api';
import { BROKEN_AGENT, checkup } from '../../../fake/readiness';
import DoctorDialog from './DoctorDialog.svelte';

async function doctor(result: Checkup | null) {
  const copied: string[] = [];
  await draw(DoctorDialog, {
    oncheck: () => Promise.resolve(result),
    oncopy: (text: string) => {
      copied.push(text);
      return Promise.resolve(true);
    },
    oncopylog: (report: string) => {
      copied.push(`${report}and the log`);
      return Promise.resolve(true);
    },
    onclose: () => {},
  });
  const dialog = within(screen.getByRole('dialog', { name: 'Doctor', hidden: true }));
  return { copied, dialog, user: userEvent.setup() };
}

describe('the report of the doctor', () => {
  it('is shown line by line and copied as text', async () => {
    const { copied, dialog, user } = await doctor(checkup({ type: 'asks' }));
    await dialog.findByText(/Everything works/u);
    dialog.getByText('dunst 1.12');
    await user.click(dialog.getByRole('button', { name: 'Copy report', hidden: true }));
    expect(copied).toEqual([expect.stringContaining('Permission     asks before acting\n')]);
    dialog.getByRole('button', { name: 'Copied', hidden: true });
  });

  it('is copied with the log', async () => {
    const { copied, dialog, user } = await doctor(checkup({ type: 'asks' }));
    await dialog.findByText(/Everything works/u);
    await user.click(dialog.getByRole('button', { name: 'Copy report and log', hidden: true }));
    expect(copied).toEqual([expect.stringMatching(/^Deskbell .*and the log$/su)]);
    dialog.getByRole('button', { name: 'Copied', hidden: true });
    dialog.getByRole('button', { name: 'Copy report', hidden: true });
  });

  it('marks a problem with a word', async () => {
    const { dialog } = await doctor(checkup({ type: 'neverAsks' }));
    await dialog.findByText(/needs your attention/u);
    expect(dialog.getByText('Problem:').parentElement?.textContent).toContain('ACTS WITHOUT ASKING');
  });

  it('has a line for each other agent, one of which may have a problem', async () => {
    const { dialog } = await doctor(checkup({ type: 'asks' }, undefined, [BROKEN_AGENT]));
    await dialog.findByText(/needs your attention/u);
    expect(dialog.getByText('Problem:').parentElement?.textContent).toContain('Qwen Code needs Node 22 or newer');
    dialog.getByText('Qwen Code');
  });

  it('has nothing to copy after a check that failed', async () => {
    const { dialog } = await doctor(null);
    await dialog.findByText('The check failed.');
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Copy report', hidden: true }).disabled).toBe(true);
  });
});
