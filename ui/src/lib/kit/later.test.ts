import { describe, expect, it } from 'vitest';

import { Later } from './later.svelte';

describe('a part that is seldom seen', () => {
  it('is loaded once, when it is first shown', async () => {
    let n = 0;
    const part = new Later(() => Promise.resolve({ default: `part ${++n}` }));
    expect(n).toBe(0);
    expect([part.component, part.component]).toEqual([null, null]);
    expect(part.isAwaited).toBe(true);
    await part.load();
    expect([part.component, n, part.isAwaited]).toEqual(['part 1', 1, false]);
  });

  it('says why it could not be loaded, and is tried again when it is drawn again', async () => {
    let isGone = true;
    const part = new Later(() =>
      isGone ? Promise.reject(new Error('the file is gone')) : Promise.resolve({ default: 'the part' }),
    );
    await part.load();
    expect(part.isAwaited).toBe(false);
    expect(() => part.component).toThrow('the file is gone');
    await Promise.resolve();
    isGone = false;
    expect(part.component).toBeNull();
    await part.load();
    expect(part.component).toBe('the part');
  });
});
