import { describe, expect, it } from 'vitest';

import type { Session } from '../../bindings/api';
import { PROFILES } from '../../../fake/agents';
import { emptySession } from '../../../fake/facts';
import type { Desk, Target } from './action';
import { actionOf } from './table';

/** What a menu says about an action on an open session with this agent, which has a conversation. */
function reason(id: string, agent: 'claude' | 'acp'): string | null | undefined {
  const session = { ...emptySession('s1', 'Title', agent), agentName: 'Gemini CLI', agentSessionId: 'a1' };
  const pane = { state: { session }, isWatching: false };
  const desk = { covered: null, pane, project: { main: pane } } as unknown as Desk;
  const item = { id: 'p1', body: { type: 'prompt' } };
  return actionOf(id).off?.(desk, { row: { session, stored: null }, item, file: null } as unknown as Target);
}

describe('a session with another agent', () => {
  const OF_CLAUDE = 'resume fork fork-before terminal generate-title rules configuration options'.split(' ');

  it.each(OF_CLAUDE)('says that it does not have “%s”, which Claude Code has', (id) => {
    expect(reason(id, 'acp')).toBe('Gemini CLI does not offer this in Deskbell.');
    expect(reason(id, 'claude')).toBeNull();
  });

  it('is exported, renamed and removed as any other', () => {
    for (const id of ['export-markdown', 'rename', 'remove', 'copy']) expect(reason(id, 'acp')).toBeNull();
  });
});

it('a session of a server says why it is not recorded here', () => {
  const at = (link: Session['link']) => {
    const pane = { state: { session: { ...emptySession('s1', 'Title'), link } } };
    const desk = { covered: null, pane, project: { main: pane } } as unknown as Desk;
    return actionOf('record').off?.(desk, {} as Target);
  };
  expect(at({ type: 'here' })).toBeNull();
  expect(at({ type: 'connected' })).toMatch(/runs in a server and cannot be recorded here/);
});

it('a session with a profile can be begun from the palette, for each profile of the settings', () => {
  const begun: string[] = [];
  const desk = (profiles: readonly { name: string }[], machine: { name: string } | null = null) => {
    const createWithProfile = (name: string) => Promise.resolve(void begun.push(name));
    const settings = { settings: { agent: { profiles } } };
    const project = { creation: { createWithProfile }, project: { machine }, settings, ownSession: null };
    return { covered: null, project } as unknown as Desk;
  };
  const action = actionOf('new-with-profile');
  expect(action.off?.(desk([]), {} as Target)).toBe('The settings have no profiles (agent.profiles).');
  expect(action.off?.(desk(PROFILES), {} as Target)).toBeNull();
  expect(action.off?.(desk(PROFILES, { name: 'box' }), {} as Target)).toBe(
    'The profiles on box are in “New session with…”.',
  );
  const choices = 'choices' in action.does ? action.does.choices(desk(PROFILES), {} as Target) : [];
  expect(choices.map(({ label }) => label)).toEqual(['Work', 'Gemini at work', 'Mine']);
  choices[0]?.run();
  expect(begun).toEqual(['Work']);
});
