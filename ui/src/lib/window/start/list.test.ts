import { describe, expect, it } from 'vitest';

import type { RecentProject } from '../../bindings/api';
import { RECENT } from '../../../fake/start';
import { activity, matching } from './list';

const names = (query: string) => matching(RECENT, query).map((project) => project.name);

describe('the filter', () => {
  it('finds words of the name and of the path, in any order', () => {
    expect(names('')).toHaveLength(RECENT.length);
    expect(names('LEDG')).toEqual(['ledger', 'ledger-fix-totals']);
    expect(names('fix/tot')).toEqual(['ledger-fix-totals']);
    expect(names('code tide')).toEqual(['tide-tables']);
    expect(names('box:/home code/windmill')).toEqual(['windmill (box)']);
    expect(names('  ')).toHaveLength(RECENT.length);
    expect(names('nothing of the kind')).toEqual([]);
  });
});

describe('what a row says', () => {
  const quiet = RECENT.filter(({ name }) => name === 'lighthouse');
  const project = (facts: Partial<RecentProject>): RecentProject => {
    const [one] = quiet;
    if (one === undefined) throw new Error('there is no such project');
    return { ...one, ...facts };
  };

  it('names what needs the user first', () => {
    expect(activity(project({ nWaiting: 1, nWorking: 2 }))?.words).toBe('Needs input');
    expect(activity(project({ nWaiting: 3 }))?.words).toBe('3 need input');
    expect(activity(project({ nWorking: 2, open: true }))?.words).toBe('2 working');
    expect(activity(project({ open: true }))?.words).toBe('Open');
    expect(activity(project({}))).toBeNull();
  });

  it('says that a folder is gone or does not respond', () => {
    expect(activity(project({ folder: 'missing' }))?.words).toBe('Missing');
    expect(activity(project({ folder: 'silent' }))?.words).toBe('Not responding');
    expect(activity(project({ folder: 'unchecked' }))).toBeNull();
  });
});
