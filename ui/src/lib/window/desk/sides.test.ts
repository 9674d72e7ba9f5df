// The panels at both sides of the conversation are as wide as the user made them, in each project.

import { cleanup, fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { openApp } from '../../../test/app';
import type { SidePanels } from '../../bindings/api';
import { WORKING } from '../../../fake/changes';
import { commandRequest, edit } from '../../../fake/script';
import type { FakeSession } from '../../../fake/session';
import { Sides } from './sides.svelte';

const AS_USUAL = { width: null, shown: null };
const USUAL: SidePanels = { sessions: AS_USUAL, side: AS_USUAL };

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
    expect(now()).toBe(280);
    await press('ArrowRight');
    expect([now(), drawn()]).toEqual([296, '296px']);
    await press('Home');
    expect(now()).toBe(220);
    await press('ArrowLeft');
    expect(now()).toBe(220);
    await press('End');
    expect(now()).toBe(480);
    await press('Enter');
    expect(now()).toBe(280);
    await press('End');
    await fireEvent.dblClick(edge());
    expect(now()).toBe(280);
  });

  it('is dragged, and moves only while it is', async () => {
    await windowOf(1180);
    const { host } = await openApp();
    await fireEvent.pointerDown(edge(), { button: 0, clientX: 280 });
    await fireEvent.pointerMove(edge(), { clientX: 300 });
    expect(now()).toBe(300);
    expect(host.panels).toEqual(USUAL);
    await fireEvent.pointerUp(edge());
    await fireEvent.pointerMove(edge(), { clientX: 400 });
    expect(now()).toBe(300);
    expect(host.panels).toEqual({ ...USUAL, sessions: { width: 300, shown: null } });
  });

  it('is where it was in the next window of the project', async () => {
    await windowOf(1180);
    const first = await openApp();
    await press('End');
    document.body.replaceChildren();
    first.host.close();
    await openApp('conversation', first.host.panels);
    expect(now()).toBe(480);
  });
});

describe('a panel that was hidden or shown', () => {
  it('is so in the next window of the project', async () => {
    await windowOf(1180);
    const list = () => screen.queryByRole('navigation', { name: 'Sessions' });
    const first = await openApp();
    await fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    expect(list()).toBeNull();
    first.host.close();
    cleanup();
    const { host } = await openApp('conversation', first.host.panels);
    expect(list()).toBeNull();
    await fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    expect(list()).not.toBeNull();
    expect(host.panels).toEqual({ ...USUAL, sessions: { width: null, shown: true } });
  });
});

describe('beside a request', () => {
  const panel = () => screen.queryByRole('complementary', { name: 'Changes and tasks' });

  it('the panel does not open by itself, and opens when that is answered', async () => {
    await windowOf(1600);
    const { host } = await openApp('empty', { ...USUAL, side: { width: null, shown: true } });
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

  it('the panel stays while the focus moves between two sessions and the changes are read again', async () => {
    await windowOf(1600);
    const { host, user } = await openApp('empty', { ...USUAL, side: { width: null, shown: true } });
    host.workingChanges = WORKING;
    const title = host.session('s1')?.facts.title ?? '';
    host.session('s1')?.patch({ isEmpty: false });
    await user.keyboard('{Control>}n{/Control}');
    await screen.findByRole('heading', { level: 1, name: 'New session' });
    await user.keyboard(`{Control>}k{/Control}Show side by side: ${title}{Enter}`);
    await screen.findByRole('region', { name: /^Second session: / });
    await expect.poll(panel).not.toBeNull();
    const read = vi.spyOn(host.answers, 'changes');
    let nGone = 0;
    const observer = new MutationObserver(() => (nGone += panel() === null ? 1 : 0));
    observer.observe(document.body, { childList: true, subtree: true });
    onTestFinished(() => observer.disconnect());
    await user.keyboard('{F8}');
    await expect.poll(() => read.mock.calls.length, { timeout: 5_000 }).toBeGreaterThan(0);
    await expect.poll(panel).not.toBeNull();
    expect(nGone).toBe(0);
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
  const both = (panels = USUAL) =>
    new Sides(
      panels,
      () => true,
      () => {},
    );

  it('leave the conversation readable, and come back with the window', async () => {
    const sides = new Sides(
      USUAL,
      (side) => side === 'sessions',
      () => {},
    );
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

  it.each([0, 1, 65_535])('are usable with %d remembered', async (remembered) => {
    await windowOf(1180);
    const width = both({ ...USUAL, sessions: { width: remembered, shown: null } }).width('sessions');
    expect(width).toBeGreaterThanOrEqual(180);
    expect(width).toBeLessThanOrEqual(480);
  });
});
