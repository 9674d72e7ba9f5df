// Stories of the usage page: nothing yet, one session, a month, 10,000 sessions.

import { tick } from 'svelte';

import { NO_USAGE, usageOf } from '../lib/host/fake/usage';
import UsageDays from '../lib/usage/UsageDays.svelte';
import UsageDialog from '../lib/usage/UsageDialog.svelte';
import UsageTable from '../lib/usage/UsageTable.svelte';
import { ignore, press, states, type Page } from './story';

const page = (view: ReturnType<typeof usageOf> | null) => ({
  load: () => Promise.resolve(view),
  onexport: () => Promise.resolve('/home/user/Documents/deskbell-usage.csv'),
  onclose: ignore,
});

const month = usageOf(31, 24);
const nameOf = ({ model }: { model: string | null }) => model ?? '';

export const usage: Page = () => [
  ...states('UsageDialog', UsageDialog, {
    'nothing yet': page(NO_USAGE),
    'one session': page(usageOf(1, 1)),
    'a month': page(month),
    'exported, of all projects': [
      page({ ...month, nUnreadable: 2 }),
      async (root) => {
        root.querySelector<HTMLElement>('input[type=checkbox]')?.click();
        await tick();
        await tick();
        await press(root, 'Export CSV');
        await press(root, 'Numbers');
      },
    ],
    '10,000 sessions': page(usageOf(366, 10_000)),
    loading: { ...page(null), load: () => new Promise(ignore) },
    failed: page(null),
  }),
  ...states('UsageDays', UsageDays, {
    'one day': { days: usageOf(1, 1).days },
    'a month': { days: month.days },
  }),
  ...states('UsageTable', UsageTable, {
    models: { title: 'Model', rows: month.models, nameOf },
  }),
];
