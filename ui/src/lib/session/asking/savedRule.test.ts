// After “Always allow” a note says which rule the agent saved, and undoes it.

import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it, vi } from 'vitest';

import type { RulePlace } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { oneRuleRequest } from '../../../fake/script';
import { ARM_MS } from './arming.svelte';
import RequestStack from './RequestStack.svelte';

const PLACE: RulePlace = { path: '/p/.claude/settings.local.json', effect: 'allow', rule: 'Bash(npm run *)' };

/** Chooses the only rule of a request, in the session that is shown. */
async function allowAlways(places: () => Promise<RulePlace[]>) {
  const requests = [oneRuleRequest('r1', 'npm run build')];
  const drawn = await draw(RequestStack, { requests }, { scene: 'history' });
  const { clock, host, project } = drawn;
  project.pane.command = () => Promise.resolve(null);
  const asked = vi.spyOn(host, 'savedRules').mockImplementation(places);
  const removed = vi.spyOn(host, 'removeRule');
  await tick();
  clock.advance(ARM_MS);
  await tick();
  await fireEvent.click(screen.getByRole('button', { name: 'Always allow' }));
  await expect.poll(() => asked.mock.calls).toEqual([[project.pane.id, 'r1']]);
  return { project, removed };
}

it('says what was saved, and its undo removes exactly that', async () => {
  const { project, removed } = await allowAlways(() => Promise.resolve([PLACE]));
  await expect.poll(() => project.done?.text).toBe('Saved: Bash(npm run *) — you, in this project');
  project.done?.undo?.();
  await expect.poll(() => removed.mock.calls).toEqual([[project.pane.id, PLACE]]);
});

it('says nothing of a rule that is saved in no file', async () => {
  const { project } = await allowAlways(() => Promise.resolve([]));
  expect(project.done).toBeNull();
});

it('reports a rule that was not saved with its reason', async () => {
  const error = { code: 'internal', message: 'The agent did not save the rule.', detail: 'it is read-only' } as const;
  const { project } = await allowAlways(() => Promise.reject(Object.assign(new Error(error.message), error)));
  await expect.poll(() => project.problems.list[0]?.error.detail).toBe('it is read-only');
  expect(project.done).toBeNull();
});
