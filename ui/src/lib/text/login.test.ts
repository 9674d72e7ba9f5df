import { expect, it } from 'vitest';

import { emptySession } from '../host/fake/facts';
import { NO_PROFILE } from '../settings/profileForm';
import { hasLogin, loginCommand } from './login';

const session = {
  ...emptySession('s1', 'A session', 'acp'),
  login: { words: ['/opt/my agent', 'login', "it's"], needed: true },
};

it('has a login in a terminal for Claude Code, and for another agent on this computer whose command is known', () => {
  expect(hasLogin(emptySession('s1', 'A session'))).toBe(true);
  expect(hasLogin(session)).toBe(true);
  expect(hasLogin({ ...session, login: null })).toBe(false);
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
