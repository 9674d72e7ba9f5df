import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet, tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import { draw } from '../../test/draw';
import { session } from '../../test/make';
import RequestStack from '../session/asking/RequestStack.svelte';
import { ARM_MS } from '../session/asking/arming.svelte';
import type { Decision, PermissionRequest, RequestId } from '../bindings/api';
import { loggedError } from '../host/host';
import { commandRequest, questionRequest } from '../../fake/script';
import Guard from './Guard.svelte';
import { rowId, type Row } from '../session/sessionRows';
import SessionList from '../project/sessions/SessionList.svelte';
import { PROJECT } from '../../fake/facts';

/** A request that its card fails to draw. */
const broken = (change: Partial<PermissionRequest> = {}) => ({
  ...commandRequest('q1', 'git push'),
  notices: null as never,
  ...change,
});

async function stack(requests: PermissionRequest[]) {
  const drawn = await draw(RequestStack, { requests });
  const decided: [RequestId, Decision][] = [];
  drawn.project.pane.command = (command) => {
    if (command.type === 'decide') decided.push([command.requestId, command.decision]);
    return Promise.resolve(null);
  };
  return { ...drawn, decided, user: userEvent.setup() };
}

const button = (name: string) => screen.queryByRole('button', { name });

describe('a request that cannot be drawn', () => {
  it('shows its whole input, is reported, and leaves the next card alone', async () => {
    const { host } = await stack([broken(), commandRequest('q2', 'git status')]);
    const [first, second] = screen.getAllByRole('group', { name: 'Permission request' });
    expect(first?.textContent).toContain(broken().inputText);
    expect(second?.textContent).toContain('git status');
    expect(second?.textContent).not.toContain('could not be displayed');
    expect(host.pageErrors.map(([place]) => place)).toEqual(['A request']);
  });

  it('can be denied', async () => {
    const { decided, user } = await stack([broken({ plain: null })]);
    await user.click(button('Deny') as HTMLElement);
    expect(decided).toEqual([['q1', { type: 'deny', message: '', interrupt: false }]]);
  });

  it('can be allowed once, if plain text shows all of it, and never at once', async () => {
    const { decided, user, clock } = await stack([broken({ plain: 'git push' })]);
    await tick();
    await user.click(button('Allow once') as HTMLElement);
    expect(decided).toEqual([]);
    clock.advance(ARM_MS);
    await tick();
    await user.click(button('Allow once') as HTMLElement);
    expect(decided).toEqual([['q1', { type: 'allowOnce', updatedInput: null }]]);
  });

  it('cannot be allowed otherwise', async () => {
    await stack([broken({ plain: null })]);
    expect(button('Allow once')).toBeNull();
    expect(screen.getByText(/you can only deny it here/)).toBeTruthy();
  });

  it('is not allowed as an answer to a question', async () => {
    const request = questionRequest('q1');
    await stack([{ ...request, plain: 'all of it', kind: { type: 'questions', questions: null as never } }]);
    expect(button('Deny')).not.toBeNull();
    expect(button('Allow once')).toBeNull();
  });
});

describe('a session that cannot be drawn', () => {
  it('is opened from its plain text, and leaves the others alone', async () => {
    const broken = session({ id: 'a', title: 'Broken' });
    Object.defineProperty(broken, 'mode', {
      get: () => {
        throw new TypeError('no mode');
      },
    });
    const opened: string[] = [];
    const rest = { openId: null, unread: new Set<string>(), creating: false };
    const nothing = () => {};
    const acts = {
      onremove: nothing,
      onmark: nothing,
      onexport: nothing,
      onnew: nothing,
      onothers: nothing,
      onsearch: nothing,
      onsearchtexts: nothing,
      onsettings: nothing,
    };
    const onopen = (row: Row) => void opened.push(rowId(row));
    const { host } = await draw(SessionList, {
      project: PROJECT,
      rows: [broken, session({ id: 'b', title: 'Whole' })].map((one) => ({ session: one, stored: null })),
      ...rest,
      ...acts,
      onopen,
    });
    expect(host.pageErrors).toHaveLength(1);
    await userEvent.setup().click(screen.getByRole('button', { name: 'Open' }));
    expect(opened).toEqual(['a']);
    expect(screen.getByRole('button', { name: /Whole/ })).toBeTruthy();
  });
});

describe('a part that failed', () => {
  it('is drawn again by its button, and when it is about something else', async () => {
    let broken = true;
    const children = createRawSnippet(() => ({
      render: () => {
        if (broken) throw new TypeError('broken');
        return '<b>whole</b>';
      },
    }));
    const { host, redraw } = await draw(Guard, { part: 'The header', of: 'a', children });
    expect(screen.getByRole('note', { name: 'Display error' }).textContent).toContain('The header could not be');
    const user = userEvent.setup();
    await user.click(button('Try again') as HTMLElement);
    expect(host.pageErrors).toHaveLength(2);
    await redraw({ of: 'b' });
    expect(host.pageErrors).toHaveLength(3);
    broken = false;
    await redraw({ of: 'b' });
    expect(screen.queryByText('whole')).toBeNull();
    await redraw({ of: 'c' });
    expect(screen.getByText('whole')).toBeTruthy();
  });
});

describe('an error for the log', () => {
  it('names its kind, its message and its place, and is bounded', () => {
    const logged = loggedError(new TypeError('x is not a function'));
    expect(logged.split('\n')[0]).toBe('TypeError: x is not a function');
    expect(logged.split('\n').length).toBeGreaterThan(1);
    expect(loggedError(new Error('a'.repeat(100_000))).length).toBeLessThanOrEqual(4_000);
  });

  it('quotes nothing that was parsed', () => {
    try {
      JSON.parse('the secret');
    } catch (error) {
      expect(loggedError(error)).not.toContain('secret');
    }
    expect(loggedError('the secret')).toBe('a thrown string');
  });
});
