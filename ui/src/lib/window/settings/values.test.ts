import { describe, expect, it } from 'vitest';

import { DEFAULT_SETTINGS, SETTING_KEYS } from '../../bindings/settings';
import { commandLines, commandOf, fits, valueOf, withSetting } from './values';

describe('a setting', () => {
  it('is found and changed by its key', () => {
    for (const { key, default: value } of SETTING_KEYS) expect(valueOf(DEFAULT_SETTINGS, key)).toEqual(value);
    const changed = withSetting(DEFAULT_SETTINGS, 'agent.program', '/opt/claude');
    expect(valueOf(changed, 'agent.program')).toBe('/opt/claude');
    expect(DEFAULT_SETTINGS.agent.program).toBeNull();
  });

  it('is found by any of its words', () => {
    const found = (query: string) => SETTING_KEYS.filter((setting) => fits(setting, query)).map(({ key }) => key);
    expect(found('THEME')).toEqual(['theme']);
    expect(found('  agent  path ')).toEqual(['agent.program']);
    expect(found('wombat')).toEqual([]);
    expect(found('')).toHaveLength(SETTING_KEYS.length);
  });

  it('is a command, one argument in each line', () => {
    const command = { program: '/usr/bin/curl', args: ['-d', '', 'two words'] };
    expect(commandOf(commandLines(command))).toEqual(command);
    expect(commandOf(' \n')).toBeNull();
    expect(commandLines(null)).toBe('');
  });
});
