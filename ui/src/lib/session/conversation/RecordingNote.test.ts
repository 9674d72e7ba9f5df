import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';

import { FakeHost } from '../../../fake/host';
import { Problems } from '../problems.svelte';
import { Recordings } from '../recording.svelte';
import { draw } from '../../../test/draw';
import RecordingNote from './RecordingNote.svelte';

/** The recording of s1, which is there. */
function recordingIn(recordings: Recordings) {
  const recording = recordings.of('s1');
  if (recording === null) throw new Error('there is no recording');
  return recording;
}

test('a recording is seen, stopped, shown and dismissed', async () => {
  const [host, problems, user] = [new FakeHost(), new Problems(), userEvent.setup()];
  const recordings = new Recordings(host, problems);
  await recordings.find('s1');
  expect(recordings.of('s1')).toBeNull();
  await recordings.start('s1');
  const copied: string[] = [];
  const props = () => ({
    recording: recordingIn(recordings),
    onstop: () => void recordings.stop('s1'),
    onreveal: (path: string) => void recordings.reveal('s1', path),
    oncopy: (path: string) => copied.push(path),
    onremove: (path: string) => void recordings.remove('s1', path),
    onclose: () => recordings.dismiss('s1'),
  });
  const { redraw } = await draw(RecordingNote, props());
  const note = () => screen.queryByRole('note', { name: 'Recording of this session' });
  expect(note()?.textContent).toContain('This session is being recorded.');
  await user.click(screen.getByRole('button', { name: 'Stop recording' }));
  await expect.poll(() => recordings.of('s1')?.isRunning).toBe(false);
  await redraw(props());
  expect(note()?.textContent).toContain(
    '(49\u{a0}kB). Read it before you attach it to a report. Deskbell keeps it until you delete it.',
  );
  await user.click(screen.getByRole('button', { name: 'Show in its folder' }));
  await user.click(screen.getByRole('button', { name: 'Copy path' }));
  expect(host.revealed).toEqual(copied);
  expect(copied[0]).toMatch(/session-s1\.ndjson$/);
  await user.click(screen.getByRole('button', { name: 'Dismiss' }));
  expect(recordings.of('s1')).toBeNull();
});

test('a recording is deleted only after a confirmation', async () => {
  const [host, problems, user] = [new FakeHost(), new Problems(), userEvent.setup()];
  const recordings = new Recordings(host, problems);
  await recordings.start('s1');
  await recordings.stop('s1');
  const props = () => ({
    recording: recordingIn(recordings),
    onstop: () => {},
    onreveal: () => {},
    oncopy: () => {},
    onremove: (path: string) => void recordings.remove('s1', path),
    onclose: () => {},
  });
  await draw(RecordingNote, props());
  const press = (name: string) => user.click(screen.getByRole('button', { name }));
  await press('Delete…');
  await press('Keep it');
  await press('Delete…');
  expect(host.removedRecordings).toEqual([]);
  host.removeRecording = () => Promise.reject({ code: 'internal', message: 'No.', detail: null } as never);
  await press('Delete the file');
  await expect.poll(() => problems.list.map(({ what }) => what)).toEqual(['The recording was not deleted']);
  expect(recordings.of('s1')).not.toBeNull();
  host.removeRecording = FakeHost.prototype.removeRecording;
  await press('Delete the file');
  await expect.poll(() => recordings.of('s1')).toBeNull();
  expect(host.removedRecordings).toHaveLength(1);
});

test('a recording that was started before the page was loaded is found', async () => {
  const host = new FakeHost();
  const recording = await host.recordSession('s1');
  const recordings = new Recordings(host, new Problems());
  await recordings.find('s1');
  expect(recordings.of('s1')).toEqual(recording);
});

test('a recording that cannot begin is reported', async () => {
  const [host, problems] = [new FakeHost(), new Problems()];
  const recordings = new Recordings(host, problems);
  const error = { code: 'internal', message: 'The recording could not be written in /full.', detail: 'No space left' };
  host.recordSession = () => Promise.reject(error as never);
  await recordings.start('s1');
  expect(recordings.of('s1')).toBeNull();
  expect(problems.list.map(({ what }) => what)).toEqual(['The session is not recorded']);
});

test('a recording that cannot be written any longer ends in the window at once', async () => {
  const recordings = new Recordings(new FakeHost(), new Problems());
  await recordings.start('s1');
  const recording = { path: '/data/a.ndjson', isRunning: false, nBytes: 1_340_000, problem: 'the disk is full' };
  recordings.hear({ type: 'recordingEnded', sessionId: 's1', recording });
  const none = { onstop: vi.fn(), onreveal: vi.fn(), oncopy: vi.fn(), onremove: vi.fn(), onclose: vi.fn() };
  const { redraw } = await draw(RecordingNote, { ...none, recording: recordingIn(recordings) });
  const note = () => screen.getByRole('note', { name: 'Recording of this session' });
  expect(note().textContent).toContain('The recording has ended: the disk is full.');
  expect(note().textContent).toContain('The first 1.3\u{a0}MB are in /data/a.ndjson. The session goes on.');
  expect(screen.queryByRole('button', { name: 'Stop recording' })).toBeNull();
  expect(screen.getByRole('button', { name: 'Show in its folder' })).toBeTruthy();

  await redraw({ ...none, recording: { ...recording, nBytes: 0 } });
  expect(note().textContent).toContain('Nothing of it was kept.');
  expect(screen.queryByRole('button', { name: 'Show in its folder' })).toBeNull();
});

test('the end of a recording is shown once, also if the session is opened again', async () => {
  const host = new FakeHost();
  const recordings = new Recordings(host, new Problems());
  await recordings.start('s1');
  recordings.dismiss('s1');
  await recordings.find('s1');
  expect(recordings.of('s1')).toBeNull();
});
