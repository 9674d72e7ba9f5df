import { expect, it } from 'vitest';

import type { ToolIcon, ToolState } from '../bindings/api';
import {
  backgroundWords,
  changeNotMade,
  countsChanges,
  lookupWords,
  stateOfAll,
  taskWords,
  TOOL_STATES,
} from './tools';

it('has words for every state, and no two are the same', () => {
  const words = Object.values(TOOL_STATES);
  expect(new Set(words).size).toBe(words.length);
});

it('claims no change that was not made', () => {
  const counted = (Object.keys(TOOL_STATES) as (keyof typeof TOOL_STATES)[]).filter(countsChanges);
  expect(counted).toEqual(['preparing', 'running', 'waiting', 'background', 'succeeded']);
  expect(changeNotMade('denied')).toBe('This change was not made.');
  expect(changeNotMade('notRun')).toBe('This change was not made.');
  expect(changeNotMade('interrupted')).toBe('This change may have been made in part.');
  expect(changeNotMade('succeeded')).toBeNull();
});

it('says the most urgent of several states', () => {
  expect(stateOfAll(['succeeded', 'failed', 'waiting'])).toBe('waiting');
  expect(stateOfAll(['succeeded', 'notRun'])).toBe('notRun');
  expect(stateOfAll(['succeeded'])).toBe('succeeded');
  // The order includes every state except `succeeded`.
  for (const state of Object.keys(TOOL_STATES) as (keyof typeof TOOL_STATES)[]) {
    expect(stateOfAll(['succeeded', state])).toBe(state);
  }
});

it('says what goes on in the background', () => {
  expect([backgroundWords(1), backgroundWords(3)]).toEqual([
    '1 task running in the background',
    '3 tasks running in the background',
  ]);
});

it('says of lookups only what was found or read', () => {
  const call = (icon: ToolIcon, state: ToolState, verb = 'Read') => ({ icon, state, verb, subject: 'a.rs' });
  expect(lookupWords([call('search', 'succeeded'), call('read', 'succeeded'), call('read', 'succeeded')])).toBe(
    'Searched 1 time and read 2 files',
  );
  expect(lookupWords([call('read', 'running', 'Reading')])).toBe('Reading a.rs');
  expect(
    lookupWords([call('search', 'succeeded'), call('read', 'succeeded'), call('read', 'failed', 'Could not read')]),
  ).toBe('Searched 1 time, read 1 file and could not read a.rs');
  expect(lookupWords([call('read', 'succeeded'), call('read', 'denied'), call('read', 'notRun')])).toBe(
    'Read 1 file · 2 files not read',
  );
  expect(lookupWords([call('read', 'succeeded'), call('search', 'failed'), call('search', 'failed')])).toBe(
    'Read 1 file · 2 searches failed',
  );
  expect(lookupWords([call('read', 'denied'), call('search', 'denied')])).toBe('2 lookups denied');
});

it('says how far the task list is', () => {
  const change = (state: ToolState, note: string | null) => ({ state, note });
  expect(taskWords([change('succeeded', '1 of 4 done'), change('failed', null)])).toBe('Updated tasks: 1 of 4 done');
  expect(taskWords([change('succeeded', '1 of 4 done'), change('running', null)])).toBe('Updating tasks: 1 of 4 done');
  expect(taskWords([change('waiting', null)])).toBe('Updating tasks');
  expect(taskWords([change('failed', '2 of 4 done')])).toBe('Tasks');
});
