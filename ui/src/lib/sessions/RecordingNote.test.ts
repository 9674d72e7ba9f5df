import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';

import { FakeHost } from '../host/fake';
import { Problems } from '../state/problems.svelte';
import { Recordings } from '../state/recording.svelte';
import { draw } from '../../test/draw';
import RecordingNote from './RecordingNote.svelte';

test('a recording is seen, stopped, shown and dismissed', async () => {
  const [host, problems, user] = [new FakeHost(), new Problems(), userEvent.setup()];
  const recordings = new Recordings(host, problems);
  await recordings.find('s1');
  expect(recordings.of('s1')).toBeNull();
  await recordings.start('s1');
  const copied: string[] = [];
  const props = () => ({
    recording: recordings.of('s1'),
    onstop: () => void recordings.stop('s1'),
    onreveal: (path: string) => void recordings.reveal('s1', path),
    oncopy: (path: string) => copied.push(path),
    onclose: () => recordings.dismiss('s1'),
  });
  const { redraw } = await draw(RecordingNote, props());
  const note = () => screen.queryByRole('note', { name: 'Recording of this session' });
  expect(note()?.textContent).toContain('This session is being recorded.');
  await user.click(screen.getByRole('button', { name: 'Stop recording' }));
  await expect.poll(() => recordings.of('s1')?.isRunning).toBe(false);
  await redraw(props());
  expect(note()?.textContent).toContain('Read it before you attach it to a report.');
  await user.click(screen.getByRole('button', { name: 'Show in its folder' }));
  await user.click(screen.getByRole('button', { name: 'Copy path' }));
  expect(host.revealed).toEqual(copied);
  expect(copied[0]).toMatch(/session-s1\.ndjson$/);
  await user.click(screen.getByRole('button', { name: 'Dismiss' }));
  await redraw(props());
  expect(note()).toBeNull();
});

test('a recording that was started before the page was loaded is found', async () => {
  const host = new FakeHost();
  const path = await host.recordSession('s1');
  const recordings = new Recordings(host, new Problems());
  await recordings.find('s1');
  expect(recordings.of('s1')).toEqual({ path, isRunning: true });
});

test('a recording that failed is reported, and the session goes on without it', async () => {
  const [host, problems] = [new FakeHost(), new Problems()];
  const recordings = new Recordings(host, problems);
  const error = { code: 'internal', message: 'The recording could not be written in /full.', detail: 'No space left' };
  host.recordSession = () => Promise.reject(error as never);
  await recordings.start('s1');
  expect(recordings.of('s1')).toBeNull();
  expect(problems.list.map(({ what }) => what)).toEqual(['The session is not recorded']);
  host.recordSession = FakeHost.prototype.recordSession;
  await recordings.start('s1');
  host.stopRecording = () => Promise.reject(error as never);
  await recordings.stop('s1');
  expect(recordings.of('s1')).toBeNull();
});
