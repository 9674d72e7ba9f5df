import { describe, expect, it } from 'vitest';

import { session } from '../../../test/make';
import { SessionList } from '../sessionList.svelte';
import type { StoredSessions } from '../stored.svelte';

function listOf(...titles: string[]): SessionList {
  const list = new SessionList({ inOrder: [] } as unknown as StoredSessions, () => true);
  list.takeAll(titles.map((title) => ({ ...session(), id: title, title })));
  return list;
}

describe('the list of sessions', () => {
  it('stays as it is when a session reports the facts that it has, as it does after each batch', () => {
    const list = listOf('a', 'b');
    const { all, rows } = list;
    list.take({ ...session(), id: 'b', title: 'b' });
    expect(list.all).toBe(all);
    expect(list.rows).toBe(rows);
  });

  it('has the newer facts of a session, and the others as they were', () => {
    const list = listOf('a', 'b');
    const [a] = list.all;
    list.take({ ...session(), id: 'b', title: 'Fix the login' });
    expect(list.all[0]).toBe(a);
    expect(list.rows.map((row) => row.session?.title)).toEqual(['a', 'Fix the login']);
  });

  it('has a new session first', () => {
    const list = listOf('a');
    list.take({ ...session(), id: 'b', title: 'b' });
    expect(list.all.map(({ id }) => id)).toEqual(['b', 'a']);
  });
});
