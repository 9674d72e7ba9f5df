// Sessions of other projects that wait.

import { describe, expect, it } from 'vitest';

import { FakeHost } from '../../../fake/host';
import { ProjectState } from '../../project/project.svelte';
import { showWaiting } from './requests';
import { waitingWords } from './waitingWords';

describe('the notice about other projects', () => {
  it('names the projects', () => {
    const words = (...names: string[]) => waitingWords(names);
    expect(words('ledger')).toBe('ledger waits');
    expect(words('ledger', 'ledger')).toBe('2 sessions of ledger wait');
    expect(words('ledger', 'tide', 'ledger')).toBe('ledger and tide wait');
    expect(words('ledger', 'tide', 'mill')).toBe('ledger and 2 other projects wait');
  });

  it('leads to the one that has waited longest, unless a request waits here', async () => {
    const host = new FakeHost('empty');
    const project = await ProjectState.start(host);
    showWaiting(project);
    expect(host.shown).toEqual([]);
    project.hear({ type: 'waitingChanged', waiting: ['ledger', 'tide'] });
    showWaiting(project);
    expect(host.shown).toEqual([['waiting', null]]);
    project.hear({ type: 'waitingChanged', waiting: [] });
    showWaiting(project);
    expect(host.shown).toHaveLength(1);
    host.close();
  });

  it('leaves the request of this project first', async () => {
    const host = new FakeHost('permission');
    const project = await ProjectState.start(host);
    project.hear({ type: 'waitingChanged', waiting: ['ledger'] });
    showWaiting(project);
    expect(host.shown).toEqual([]);
    expect(project.shownRequest).not.toBeNull();
    host.close();
  });
});
