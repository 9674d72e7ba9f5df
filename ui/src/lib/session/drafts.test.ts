import { beforeEach, expect, it } from 'vitest';

import { drafted, type DraftAttachment, type AttachmentStore } from './attachments';
import { Draft, Drafts } from './drafts.svelte';

beforeEach(() => localStorage.clear());

/** A store that outlives the windows of a test. */
class Shelf implements AttachmentStore {
  readonly kept = new Map<string, readonly DraftAttachment[]>();
  read = (draft: string) => Promise.resolve(this.kept.get(draft) ?? []);
  write(draft: string, attachments: readonly DraftAttachment[]) {
    if (attachments.length === 0) this.kept.delete(draft);
    else this.kept.set(draft, attachments);
  }
  names = () => [...this.kept.values()].map((list) => list.map(({ name }) => name));
}

const image = (name: string) => drafted(name, { mediaType: 'image/png', data: 'iVBORw0KGg' });
const names = (draft: Draft) => draft.attachments.map(({ name }) => name);

/** The same draft in a window that opens later. */
async function again(shelf: Shelf, key = 's1'): Promise<Draft> {
  const draft = new Draft(key, localStorage, shelf);
  await Promise.resolve();
  await Promise.resolve();
  return draft;
}

it('keeps what was attached for the next window', async () => {
  const shelf = new Shelf();
  const draft = await again(shelf);
  draft.attachments = [image('a.png'), image('b.png')];
  expect(names(await again(shelf))).toEqual(['a.png', 'b.png']);
  expect(names(await again(shelf, 's2'))).toEqual([]);
  draft.attachments = [];
  expect(names(await again(shelf))).toEqual([]);
});

it('keeps what was sent until it is accepted, and gives back what was refused', async () => {
  const shelf = new Shelf();
  const draft = await again(shelf);
  draft.attachments = [image('a.png')];
  const taken = draft.take();
  expect(draft.empty).toBe(true);
  expect(shelf.names()).toEqual([['a.png']]);
  // Another attachment, before the answer.
  draft.attachments = [image('b.png')];
  expect(names(await again(shelf))).toEqual(['a.png', 'b.png']);
  draft.giveBack(taken);
  expect(names(draft)).toEqual(['a.png', 'b.png']);
  draft.take();
  draft.settle();
  expect(shelf.names()).toEqual([]);
});

it.each([
  ['has arrived', ['earlier', 'Look at this '], '', []],
  ['has not arrived', ['earlier'], 'Look at this', ['a.png']],
])('what was sent by a page that was killed before the answer %s', async (_, prompts, text, files) => {
  const shelf = new Shelf();
  const killed = await again(shelf);
  killed.text = 'Look at this';
  killed.attachments = [image('a.png')];
  killed.take();

  for (const isRead of [false, true]) {
    const draft = isRead ? await again(shelf) : new Draft('s1', localStorage, shelf);
    draft.arrived(prompts);
    await Promise.resolve();
    await Promise.resolve();
    expect(draft.text).toBe(text);
    expect(names(draft)).toEqual(files);
  }
  expect(shelf.names()).toEqual(files.length === 0 ? [] : [files]);
});

it('a text that was not sent stays, also if it is that of the last prompt', async () => {
  const shelf = new Shelf();
  const before = await again(shelf);
  before.take();
  before.settle();
  before.text = 'Go on';
  const draft = await again(shelf);
  draft.arrived(['Go on']);
  expect(draft.text).toBe('Go on');
});

it('puts what was kept before what was attached in the meantime', async () => {
  const shelf = new Shelf();
  (await again(shelf)).attachments = [image('a.png')];
  const draft = new Draft('s1', localStorage, shelf);
  draft.attachments = [image('b.png')];
  // A read returns the content at the time of the call.
  await Promise.resolve();
  await Promise.resolve();
  expect(names(draft)).toContain('b.png');
});

it.each(['looked at', 'not looked at'])('of a removed session become those of the next one: %s', async (looked) => {
  const shelf = new Shelf();
  const before = await again(shelf);
  before.text = 'half';
  before.attachments = [image('a.png')];
  const drafts = new Drafts(localStorage, shelf);
  const next = drafts.of(null, '/p');
  next.text = 'first';
  next.attachments = [image('b.png')];
  if (looked === 'looked at') {
    drafts.of('s1', '/p');
    await again(shelf);
  }
  drafts.forget('s1', '/p');
  await again(shelf);
  expect([next.text, names(next)]).toEqual(['first\nhalf', ['b.png', 'a.png']]);
  expect([drafts.of('s1', '/p').text, shelf.names()]).toEqual(['', [['b.png', 'a.png']]]);
});

it('gives what was refused after the removal to the next session', () => {
  const drafts = new Drafts();
  const draft = drafts.of('s1', '/p');
  draft.text = 'sent too late';
  const taken = draft.take();
  drafts.forget('s1', '/p');
  draft.giveBack(taken);
  expect(drafts.of(null, '/p').text).toBe('sent too late');
});

it('takes what an empty session has to another one, before what was written there, and leaves nothing behind', async () => {
  const shelf = new Shelf();
  const drafts = new Drafts(localStorage, shelf);
  const [old, next] = [drafts.of('s1', '/p'), drafts.of('s2', '/p')];
  await Promise.resolve();
  old.text = 'Round the totals';
  old.attachments = [image('a.png')];
  next.text = 'of both';
  next.attachments = [image('b.png')];
  drafts.move('s1', 's2', '/p');
  expect([next.text, names(next)]).toEqual(['Round the totals\nof both', ['a.png', 'b.png']]);
  const later = new Drafts(localStorage, shelf);
  expect([later.of('s1', '/p').text, later.of('s2', '/p').text]).toEqual(['', 'Round the totals\nof both']);
  expect(names(await again(shelf, 's2'))).toEqual(['a.png', 'b.png']);
  expect(names(await again(shelf, 's1'))).toEqual([]);
});
