import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { Session } from '../bindings/api';
import { emptySession } from '../host/fake/facts';
import { KnownModels } from './knownModels';
import { SessionState } from './session.svelte';

beforeEach(() => localStorage.clear());

const ran = (more: Partial<Session> = {}): Session => ({ ...emptySession('a', ''), alive: true, ...more });
/** A session whose agent was never started. */
const fresh = (more: Partial<Session> = {}): Session => ({
  ...emptySession('b', ''),
  alive: false,
  agentVersion: null,
  models: [],
  commands: [],
  effort: null,
  ...more,
});
const none = () => {};
const names = ({ models }: Session) => models.map(({ name }) => name);

describe('the models of an agent', () => {
  it('are known to the next session, in this window and in a later one', () => {
    const known = new KnownModels(null, none);
    expect(known.complete(fresh()).models).toEqual([]);
    known.complete(ran());
    for (const one of [known, new KnownModels(null, none)]) {
      expect(names(one.complete(fresh()))).toEqual(['default', 'opus', 'haiku']);
      expect(one.complete(fresh()).commands.map(({ name }) => name)).toContain('compact');
    }
  });

  it('are those of its version, profile and machine', () => {
    const known = new KnownModels(null, none);
    const [first, second] = ran().models;
    known.complete(ran({ agentVersion: '1', models: first ? [first] : [] }));
    known.complete(ran({ agentVersion: '2', models: second ? [second] : [] }));
    expect(names(known.complete(fresh({ agentVersion: '1' })))).toEqual(['default']);
    expect(names(known.complete(fresh({ agentVersion: '2' })))).toEqual(['opus']);
    expect(names(known.complete(fresh({ agentVersion: '3' })))).toEqual([]);
    expect(names(known.complete(fresh()))).toEqual(['opus']);
    expect(names(known.complete(fresh({ profile: 'work' })))).toEqual([]);
    expect(names(new KnownModels('box', none).complete(fresh()))).toEqual([]);
  });

  it('are bounded, and the oldest go', () => {
    const known = new KnownModels(null, none);
    const [model] = ran().models;
    const models = Array.from({ length: 1_000 }, () => model).flatMap((one) => one ?? []);
    for (let nr = 0; nr < 20; nr += 1) known.complete(ran({ agentVersion: `${nr}`, models }));
    const later = new KnownModels(null, none);
    expect(later.complete(fresh({ agentVersion: '19' })).models).toHaveLength(200);
    expect(later.complete(fresh({ agentVersion: '7' })).models).toEqual([]);
  });

  it('are not taken from an agent that offers no choice', () => {
    const known = new KnownModels(null, none);
    known.complete(ran());
    const { capabilities } = fresh();
    expect(known.complete(fresh({ capabilities: { ...capabilities, models: false } })).models).toEqual([]);
  });

  it.each(['{', '7', '[{"agent":"claude"}]', '[{"agent":"claude","models":[{"name":1}],"commands":[]}]'])(
    'are ignored and reported if their storage is damaged: %s',
    (text) => {
      localStorage.setItem('deskbell.models', text);
      const report = vi.fn();
      const known = new KnownModels(null, report);
      expect(report).toHaveBeenCalledOnce();
      expect(known.complete(fresh()).models).toEqual([]);
      known.complete(ran());
      expect(names(new KnownModels(null, none).complete(fresh()))).toHaveLength(3);
    },
  );

  it('are in the session before its agent runs, with the effort that was chosen', () => {
    const known = new KnownModels(null, none);
    known.complete(ran());
    const state = new SessionState(fresh(), known);
    expect(names(state.session)).toHaveLength(3);
    state.choseEffort('high');
    expect(state.session.effort).toBe('high');
  });
});
