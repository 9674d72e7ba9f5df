import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { UNREAD_FILES } from '../../fake/facts';
import UnreadFilesBanner from './UnreadFilesBanner.svelte';

const NAME = 'Files that could not be read';

describe('files that could not be read', () => {
  it('are not spoken of where there are none', () => {
    render(UnreadFilesBanner, { files: [] });
    expect(screen.queryByRole('region', { name: NAME })).toBeNull();
  });

  it('are named, with what was found and where they are now', () => {
    render(UnreadFilesBanner, { files: UNREAD_FILES });
    const rows = within(screen.getByRole('region', { name: NAME })).getAllByRole('listitem');
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringMatching(
        /The places of your windows could not be read.*it is a folder, not a file.*json\.unreadable/s,
      ),
      expect.stringMatching(/A session could not be read.*named pipe.*Nothing was deleted/s),
      expect.stringMatching(/The branch could not be read\..*\.git\/HEAD.*named pipe/s),
    ]);
    expect(rows[2]?.textContent).not.toContain('overwrite');
  });

  it('stay dismissed, and another one is shown', async () => {
    const [first, ...others] = UNREAD_FILES;
    const { rerender } = render(UnreadFilesBanner, { files: others });
    await userEvent.setup().click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByRole('region', { name: NAME })).toBeNull();
    await rerender({ files: [...others, ...(first === undefined ? [] : [first])] });
    expect(screen.getAllByRole('listitem')).toHaveLength(1);
  });

  it('are shown twice where two are the same', () => {
    render(UnreadFilesBanner, { files: [...UNREAD_FILES, ...UNREAD_FILES] });
    expect(screen.getAllByRole('listitem')).toHaveLength(6);
  });
});
