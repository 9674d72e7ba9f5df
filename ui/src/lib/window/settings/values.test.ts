import { describe, expect, it } from 'vitest';

import { DEFAULT_SETTINGS, SETTING_KEYS } from '../../bindings/settings';
import { commandOf, lineOf, splitLine } from './commandLine';
import { refusalWords } from './edits.svelte';
import { fits, isChanged, numberOf, valueOf, valueWords, withSetting } from './values';

const setting = (key: string) => SETTING_KEYS.find((one) => one.key === key) ?? expect.fail(key);

describe('a setting', () => {
  it('is found and changed by its key', () => {
    for (const { key, default: value } of SETTING_KEYS) expect(valueOf(DEFAULT_SETTINGS, key)).toEqual(value);
    const changed = withSetting(DEFAULT_SETTINGS, 'agent.program', '/opt/claude');
    expect(valueOf(changed, 'agent.program')).toBe('/opt/claude');
    expect(DEFAULT_SETTINGS.agent.program).toBeNull();
  });

  it('is found by any of its words', () => {
    const found = (query: string) => SETTING_KEYS.filter((one) => fits(one, query)).map(({ key }) => key);
    expect(found('THEME')).toEqual(['theme']);
    expect(found('  agents  path ')).toEqual(['agent.program']);
    expect(found('plans sound')).toEqual(['bell.needsYou.sound']);
    expect(found('agent.prof')).toEqual(['agent.profiles']);
    expect(found('wombat')).toEqual([]);
    expect(found('')).toHaveLength(SETTING_KEYS.length);
  });

  it('has a line of help without the language of the file', () => {
    for (const { key, help, label } of SETTING_KEYS) {
      expect(help, key).toMatch(/^[A-Z]/);
      expect(`${label} ${help}`, key).not.toMatch(/json|null|[{}`*]/i);
      expect(help.length, key).toBeLessThanOrEqual(80);
    }
  });

  it('says its default, and is changed only by another value', () => {
    const words = (key: string) => valueWords(setting(key), setting(key).default);
    expect(words('fonts.size')).toBe('14 px');
    expect(words('tray')).toBe('on');
    expect(words('density')).toBe('Comfortable');
    expect(words('agent.program')).toBe('Find automatically');
    expect(words('editor')).toBe('none');
    expect(isChanged(setting('editor'), null)).toBe(false);
    expect(isChanged(setting('editor'), { program: 'vi', args: [] })).toBe(true);
    expect(isChanged(setting('agent.profiles'), [{ name: 'Work' }])).toBe(false);
  });

  it('is a whole number within its limits, with or without its unit', () => {
    const size = { min: 10, max: 24, unit: 'px' };
    expect(['15', ' 15 px ', '15px', '24'].map((typed) => numberOf(typed, size))).toEqual([15, 15, 15, 24]);
    expect(['9', '25', '', '1.5', '15 %', '-12', '1e1'].map((typed) => numberOf(typed, size))).toEqual(
      Array(7).fill(null),
    );
  });
});

describe('a command', () => {
  it.each([
    [{ program: 'ntfy', args: ['publish', 'desk'] }, 'ntfy publish desk'],
    [{ program: '/usr/bin/curl', args: ['-d', '', 'two words'] }, "/usr/bin/curl -d '' 'two words'"],
    [{ program: 'C:\\Program Files\\vim.exe', args: ['C:\\new'] }, "'C:\\Program Files\\vim.exe' C:\\new"],
    [{ program: 'say', args: ["it's", '"', 'a\\"b\'\\'] }, 'say "it\'s" \'"\' "a\\\\\\"b\'\\\\"'],
    [{ program: 'two', args: ['a\nb', ' '] }, "two 'a\nb' ' '"],
  ])('%j is one line, and the line is the command', (command, line) => {
    expect(lineOf(command)).toBe(line);
    expect(commandOf(splitLine(line) ?? [])).toEqual(command);
  });

  it('has words that are joined from quoted pieces, and no open quote', () => {
    expect(splitLine('a"b c"\'d\'e  f')).toEqual(['ab cde', 'f']);
    expect(splitLine("kitty 'vim")).toBeNull();
    expect(splitLine('kitty "vim\\"')).toBeNull();
    expect(commandOf(splitLine('  \n') ?? [])).toBeNull();
    expect(lineOf(null)).toBe('');
  });
});

it('says why a value was refused without the name above it', () => {
  const error = { code: 'internal', message: 'This setting has no such value.' } as const;
  expect(refusalWords({ ...error, detail: '“dates”: it must be a language tag.' })).toBe('It must be a language tag.');
  expect(refusalWords({ ...error, detail: '“zoom” must be a whole number.' })).toBe('Must be a whole number.');
  expect(refusalWords({ ...error, code: 'refused', detail: 'x' })).toBe('This setting has no such value.');
});
