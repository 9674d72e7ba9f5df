import { fireEvent, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import type { UsageView } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { planLimits } from '../../../fake/context';
import { NO_USAGE, usageOf } from '../../../fake/usage';
import { Attention } from '../../kit/attention.svelte';
import { ProjectState } from '../../project/project.svelte';
import { ManualClock } from '../../../test/clock';
import Harness from '../../../test/Harness.svelte';
import { dayName, inWords, lastMonth } from './days';
import UsageDialog from './UsageDialog.svelte';

const spent = (day: string | null, cost: string) => ({ ...usageOf(1, 1).total, day, cost });

it('fills the month up to the last day, and says its peak', () => {
  const days = lastMonth([spent('2026-11-20', '0.5'), spent('2026-11-22', '2'), spent(null, '9'), spent('soon', '9')]);
  expect(days).toHaveLength(31);
  expect(days.slice(-3).map((day) => [day.name, day.percent])).toEqual([
    ['20 Nov 2026', 25],
    ['21 Nov 2026', 0],
    ['22 Nov 2026', 100],
  ]);
  expect(inWords(days)).toBe('Cost by day from 23 Oct 2026 to 22 Nov 2026. The most on one day: $2.00 on 22 Nov 2026.');
  expect(lastMonth([])).toEqual([]);
  expect(inWords(lastMonth([spent('2026-11-22', '0')]))).toBe('Cost by day from 23 Oct 2026 to 22 Nov 2026.');
  expect([dayName('2026-11-03'), dayName('someday')]).toEqual(['3 Nov 2026', 'someday']);
});

async function draw(load: (all: boolean) => Promise<UsageView | null>) {
  const project = await ProjectState.start(new FakeHost('conversation'));
  const exported: boolean[] = [];
  const onexport = (all: boolean) => {
    exported.push(all);
    return Promise.resolve('/home/user/usage.csv');
  };
  const inner = { limits: planLimits(0), load, onexport, onclose: () => {} };
  const given = { component: UsageDialog, inner, project, attention: new Attention(), clock: new ManualClock() };
  const { container } = render(Harness, given as never);
  const settle = async () => {
    for (let i = 0; i < 4; i++) await tick();
  };
  await settle();
  const button = () =>
    [...container.querySelectorAll('button')].find(({ textContent }) => textContent.includes('Export CSV'));
  const all = container.querySelector('input') as HTMLInputElement;
  return { container, settle, button, all, exported };
}

it('shows the exact total, and exports what is shown', async () => {
  const { container, settle, button, all, exported } = await draw((all) =>
    Promise.resolve({ ...usageOf(31, all ? 10_000 : 24), total: spent(null, '12.345678') }),
  );
  expect(container.textContent).toContain('$12.345678');
  expect(container.textContent).not.toContain('By project');
  await fireEvent.click(all);
  await settle();
  expect(container.textContent).toContain('By project');
  expect(container.textContent).toContain('The 200 most expensive of 10,000 sessions.');
  await fireEvent.click(button() as HTMLButtonElement);
  await settle();
  expect(exported).toEqual([true]);
  expect(container.textContent).toContain('Exported to /home/user/usage.csv');
});

it('shows the names of models with all their characters', async () => {
  const odd = { ...spent(null, '1'), model: 'opus\u202e\u001b[2J' };
  const { container } = await draw(() => Promise.resolve({ ...usageOf(31, 24), models: [odd] }));
  expect(container.textContent).toContain('opus\\u{202E}\\u{001B}[2J');
  for (const odd of ['\u001b', '\u202e']) expect(container.textContent).not.toContain(odd);
});

it('says when nothing was spent, and ignores an answer that came too late', async () => {
  const answers: ((view: UsageView | null) => void)[] = [];
  const { container, settle, button, all } = await draw(() => new Promise((resolve) => answers.push(resolve)));
  expect(container.textContent).toContain('Adding up…');
  await fireEvent.click(all);
  await settle();
  answers[1]?.(NO_USAGE);
  await settle();
  expect(container.textContent).toContain('Nothing was spent yet');
  expect(button()?.disabled).toBe(true);
  answers[0]?.(usageOf(31, 24));
  await settle();
  expect(container.textContent).toContain('Nothing was spent yet');
});
