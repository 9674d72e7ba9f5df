// The panels at both sides of the conversation are as wide as the user made them, in each project.

import { cleanup, fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { openApp } from '../../test/app';
import { commandRequest, edit } from '../host/fake/script';
import type { FakeSession } from '../host/fake/session';
import { Sides } from './sides.svelte';

beforeEach(() => localStorage.clear());

const edge = (name = 'Width of the session list') => screen.getByRole('separator', { name });
const now = (name?: string) => Number(edge(name).getAttribute('aria-valuenow'));
const drawn = () => document.querySelector<HTMLElement>('.window')?.style.getPropertyValue('--sessions');

async function windowOf(width: number) {
  const before = window.innerWidth;
  onTestFinished(() => resized(before));
  await resized(width);
}

async function resized(width: number) {
  Object.defineProperty(window, 'innerWidth', { value: width, configurable: true });
  await fireEvent(window, new Event('resize'));
  await tick();
}

const press = (key: string) => fireEvent.keyDown(edge(), { key });

describe('the edge of the session list', () => {
  it('is moved by keys, within limits, and back by Enter or a double click', async () => {
    await windowOf(1180);
    await openApp();
    expect(now()).toBe(236);
    await press('ArrowRight');
    expect([now(), drawn()]).toEqual([252, '252px']);
    await press('Home');
    expect(now()).toBe(180);
    await press('ArrowLeft');
    expect(now()).toBe(180);
    await press('End');
    expect(now()).toBe(480);
    await press('Enter');
    expect(now()).toBe(236);
    await press('End');
    await fireEvent.dblClick(edge());
    expect(now()).toBe(236);
  });

  it('is dragged, and moves only while it is', async () => {
    await windowOf(1180);
    await openApp();
    await fireEvent.pointerDown(edge(), { button: 0, clientX: 236 });
    await fireEvent.pointerMove(edge(), { clientX: 300 });
    expect(now()).toBe(300);
    expect(localStorage.getItem('deskbell.sides')).toBeNull();
    await fireEvent.pointerUp(edge());
    await fireEvent.pointerMove(edge(), { clientX: 400 });
    expect(now()).toBe(300);
    expect(localStorage.getItem('deskbell.sides')).toContain('300');
  });

  it('is where it was in the next window of the project', async () => {
    await windowOf(1180);
    const first = await openApp();
    await press('End');
    document.body.replaceChildren();
    first.host.close();
    await openApp();
    expect(now()).toBe(480);
  });
});

describe('a panel that was hidden or shown', () => {
  it('is so in the next window of the project, and as usual in another one', async () => {
    await windowOf(1180);
    const list = () => screen.queryByRole('navigation', { name: 'Sessions' });
    const first = await openApp();
    await fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    expect(list()).toBeNull();
    first.host.close();
    cleanup();
    await openApp();
    expect(list()).toBeNull();
    await fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    expect(list()).not.toBeNull();
    cleanup();
    const { host } = await openApp('conversation');
    const { path } = (await host.connect()).project;
    const sides = (project: string) => new Sides(project, () => true);
    expect([sides(path).wanted('sessions'), sides('/other').wanted('sessions')]).toEqual([true, null]);
    sides('/other').show('side', false);
    expect([sides(path).wanted('side'), sides('/other').wanted('side')]).toEqual([null, false]);
  });

  it('is as usual if the storage has something else', () => {
    localStorage.setItem('deskbell.sides', '[["/p",{"shown":{"sessions":"no","side":0}}],["/q",{"shown":7}]]');
    const wanted = ['/p', '/q'].flatMap((project) => {
      const sides = new Sides(project, () => true);
      return [sides.wanted('sessions'), sides.wanted('side')];
    });
    expect(wanted).toEqual([null, null, null, null]);
  });
});

describe('beside a request', () => {
  const panel = () => screen.queryByRole('complementary', { name: 'Changes and tasks' });

  it('the panel does not open by itself, and opens when that is answered', async () => {
    localStorage.setItem('deskbell.sides', '[["/home/ines/ledger",{"shown":{"side":true}}]]');
    await windowOf(1600);
    const { host } = await openApp('empty');
    const session = host.session('s1') as FakeSession;
    session.patch({ requests: [commandRequest('q1', 'git push')] });
    await screen.findByRole('group', { name: 'Permission request' });
    session.add(edit());
    await expect.poll(() => screen.queryByRole('button', { name: 'Changes and tasks' })).not.toBeNull();
    expect(panel()).toBeNull();
    session.patch({ requests: [] });
    await expect.poll(panel).not.toBeNull();
    // Nor does it close.
    session.patch({ requests: [commandRequest('q2', 'git push')] });
    await screen.findByRole('group', { name: 'Permission request' });
    expect(panel()).not.toBeNull();
    await fireEvent.click(screen.getByRole('button', { name: 'Changes and tasks' }));
    expect(panel()).toBeNull();
  });

  it('notes of the window are above the conversation, not below the card', async () => {
    const { host } = await openApp('empty');
    host.session('s1')?.patch({ requests: [commandRequest('q1', 'git push')] });
    const card = await screen.findByRole('group', { name: 'Permission request' });
    const error = { code: 'internal', message: 'The disk is gone.', detail: null } as const;
    host.start.emit({ type: 'failed', what: 'The file was not opened', error });
    const alert = await screen.findByText('The file was not opened.');
    expect(alert.compareDocumentPosition(card)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  });
});

describe('the widths', () => {
  const both = (project = '/p') => new Sides(project, () => true);

  it('leave the conversation readable, and come back with the window', async () => {
    const sides = new Sides('/p', (side) => side === 'sessions');
    await windowOf(1600);
    sides.resize('sessions', 9999);
    expect(sides.width('sessions')).toBe(480);
    await resized(821);
    expect(821 - sides.width('sessions')).toBeGreaterThanOrEqual(380);
    await resized(1600);
    expect(sides.width('sessions')).toBe(480);
  });

  it('leave it readable with both panels', async () => {
    await windowOf(1600);
    const sides = both();
    sides.resize('sessions', 9999);
    sides.resize('side', 9999);
    for (const width of [1600, 1280, 1000, 821]) {
      await resized(width);
      const left = width - sides.width('sessions') - sides.width('side');
      expect([width, left >= 380 || sides.width('side') === sides.least('side')]).toEqual([width, true]);
    }
  });

  it('are those of the project, on its machine', async () => {
    await windowOf(1180);
    const here = both('/work');
    here.resize('sessions', 300);
    here.save();
    expect(both('/work').width('sessions')).toBe(300);
    expect(both('box:/work').width('sessions')).toBe(236);
  });

  it.each(['torn {', '7', '[["/p"]]', '[["/p",{"sessions":"wide"}]]', '[["/p",{"sessions":1e99}]]', '[null]'])(
    'are usable with “%s” in the storage',
    async (text) => {
      await windowOf(1180);
      localStorage.setItem('deskbell.sides', text);
      const width = both().width('sessions');
      expect(width).toBeGreaterThanOrEqual(180);
      expect(width).toBeLessThanOrEqual(480);
    },
  );
});
