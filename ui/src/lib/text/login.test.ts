import { expect, it } from 'vitest';

import { emptySession } from '../../fake/facts';
import { NO_PROFILE } from '../window/settings/profileForm';
import { hasLogin, loginCommand } from './login';

const session = {
  ...emptySession('s1', 'A session', 'acp'),
  login: { words: ['/opt/my agent', 'login', "it's"], needed: true },
};

it('has a login in a terminal for Claude Code, and for another agent whose command is known', () => {
  expect(hasLogin(emptySession('s1', 'A session'))).toBe(true);
  expect(hasLogin(session)).toBe(true);
  expect(hasLogin({ ...session, login: null })).toBe(false);
});

it('logs in to Claude Code with the folder of the profile', () => {
  const profile = {
    ...NO_PROFILE,
    name: 'Second',
    environment: [{ name: 'CLAUDE_CONFIG_DIR', value: '/home/ines/c 2' }],
  };
  const session = { ...emptySession('s1', 'A session'), profile: 'Second' };
  expect(loginCommand(session, [profile])).toBe("CLAUDE_CONFIG_DIR='/home/ines/c 2' claude auth login");
});

it('writes the command for a shell, with the places of the profile and none of its keys', () => {
  const words = String.raw`'/opt/my agent' login 'it'\''s'`;
  expect(loginCommand(session, [])).toBe(words);
  const environment = [
    { name: 'CODEX_HOME', value: '/home/ines/co dex' },
    { name: 'MY_KEY', value: 'secret' },
  ];
  const profile = { ...NO_PROFILE, name: 'Work', environment };
  expect(loginCommand(session, [profile])).toBe(words);
  expect(loginCommand({ ...session, profile: 'Work' }, [profile])).toBe(`CODEX_HOME='/home/ines/co dex' ${words}`);
  expect(loginCommand({ ...session, login: null }, [])).toBeNull();
});
