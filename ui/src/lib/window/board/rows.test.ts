import { describe, expect, it } from 'vitest';

import type { BoardRow } from '../../bindings/api';
import { boardRequest, BOARDS } from '../../../fake/board';
import { START } from '../../../fake/facts';
import { allOf, cost, costWithMemory, counts, grouped, matches, reason, time, wholeCost } from './rows';

const ROWS = BOARDS['board'] ?? [];

describe('a row', () => {
  const row = (facts: Partial<BoardRow>): BoardRow => ({ ...(ROWS[0] as BoardRow), ...facts });

  it('says why it is there', () => {
    expect(reason(row({ status: { type: 'completed' }, nBackground: 1 }))).toBe('Background work');
    expect(reason(row({ status: { type: 'completed' } }))).toBe('');
    expect(reason(row({ status: { type: 'working', activity: 'Writing' } }))).toBe('Writing');
    expect(reason(row({ status: { type: 'interrupting' } }))).toBe('Stopping');
    expect(reason(row({ status: { type: 'restarting', attempt: 2, at: 0 } }))).toBe('Starting again, attempt 2');
    expect(reason(row({ status: { type: 'failed', message: 'no network' } }))).toBe('Failed: no network');
  });

  it('says what it costs, as far as that is known', () => {
    const processes = { nProcesses: 3, memoryBytes: 412 << 20, cpuMs: 12_900 };
    const both = row({ costUsd: 0.184, processes });
    expect([cost(both), costWithMemory(both), wholeCost(both)]).toEqual([
      '$0.18',
      '$0.18 · 412 MiB',
      '$0.18 so far; 3 processes, 412 MiB of memory, 12 s of CPU time',
    ]);
    const one = row({ costUsd: 0, processes: { ...processes, nProcesses: 1 } });
    expect([costWithMemory(one), wholeCost(one)]).toEqual([
      '412 MiB',
      '1 process, 412 MiB of memory, 12 s of CPU time',
    ]);
    const over = row({ costUsd: 0.001, processes: null });
    expect([cost(over), wholeCost(over)]).toEqual(['< $0.01', '< $0.01 so far']);
    const unknown = row({ costUsd: 0, processes: null });
    expect([cost(unknown), wholeCost(unknown)]).toEqual(['', null]);
  });

  it('says for how long', () => {
    expect([time(START, START + 59_999), time(START, START + 60_000), time(START + 9, START)]).toEqual([
      '59 s',
      '1 min',
      '0 s',
    ]);
    expect(time(START, START + 3_840_000)).toBe('1 h 4 min');
  });

  it('is not shown from midnight on if its turn is done, and stays if it failed', () => {
    const noon = new Date(2026, 10, 3, 12).getTime();
    const over = (state: BoardRow['state']) => row({ state, since: noon });
    const rows = [over('needsInput'), over('failed'), over('finished')];
    const evening = grouped(rows, new Date(2026, 10, 3, 23, 59).getTime());
    expect(counts(evening).map(({ words }) => words)).toEqual(['1 needs you', '2 done today']);
    expect(allOf(grouped(rows, new Date(2026, 10, 4).getTime()))).toEqual(rows.slice(0, 2));
  });

  it('is found by its project, title, machine and texts', () => {
    const one = row({ machine: 'buildbox', request: boardRequest({ text: 'cargo test' }) });
    for (const words of ['', 'TIDE', 'publish curve', 'buildbox', 'cargo', 'wants to run']) {
      expect(matches(one, words)).toBe(true);
    }
    expect(matches(one, 'publish ledger')).toBe(false);
  });
});
