import { beforeEach, expect, it, vi } from 'vitest';

import { FakeHost } from '../../fake/host';
import { askAnother } from './askAnother';
import { ProjectState } from './project.svelte';

beforeEach(() => localStorage.clear());

const FILE = { name: 'tides.txt', mediaType: 'text/plain', data: 'high at 6:12' };

/** A session whose last prompt had a file. */
async function start() {
  const host = new FakeHost('conversation');
  const project = await ProjectState.start(host);
  await expect.poll(() => project.open?.loaded).toBe(true);
  host.session('s1')?.add({ type: 'prompt', text: 'Read this', nImages: 0, nDocuments: 1, state: 'done' });
  const last = () => host.session('s1')?.items.findLast(({ body }) => body.type === 'prompt');
  await expect.poll(() => project.open?.item(last()?.id ?? '')).toBeDefined();
  const command = vi.spyOn(host, 'command');
  const given = () => command.mock.calls.flatMap(([id, one]) => (one.type === 'prompt' ? [[id, one] as const] : []));
  return { project, command, given, ask: () => askAnother(project, last()?.id ?? '', { agent: 'demo-acp' }) };
}

it('gives the attachments of a prompt that this window sent', async () => {
  const { project, given, ask } = await start();
  project.sentFiles.keep('s1', 'Read this', [FILE], 0);
  expect(await ask()).toBeNull();
  expect(given()).toEqual([
    ['s-new-1', { type: 'prompt', text: 'Read this', attachments: [FILE], delivery: 'afterTurn' }],
  ]);
  expect(project.problems.list).toEqual([]);
});

it('leaves the prompt and its attachments in the box if it is refused', async () => {
  const { project, command, ask } = await start();
  project.sentFiles.keep('s1', 'Read this', [FILE], 0);
  command.mockRejectedValue({ code: 'internal', message: 'No.', detail: null });
  await ask();
  expect(project.pane.draft.text).toBe('Read this');
  expect(project.pane.draft.attachments.map(({ name, data }) => [name, data])).toEqual([[FILE.name, FILE.data]]);
});

it('sends nothing where the attachments are not known', async () => {
  const { project, given, ask } = await start();
  await ask();
  expect(given()).toEqual([]);
  expect(project.pane.draft.text).toBe('Read this');
  expect(project.problems.list.map(({ what }) => what)).toEqual(['The prompt was not sent']);
});
