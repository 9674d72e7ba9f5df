import { beforeEach, describe, expect, it } from 'vitest';

import type { WindowEvent } from '../bindings/api';
import { FakeHost } from '../../fake/host';
import { OBSTACLES } from '../../fake/readiness';
import { ProjectState } from '../project/project.svelte';

beforeEach(() => localStorage.clear());

/** A window's state after its first check, and the number of checks. */
async function start(scene: string) {
  const host = new FakeHost(scene);
  let nChecks = 0;
  const check = host.checkReadiness.bind(host);
  host.checkReadiness = () => {
    nChecks += 1;
    return check();
  };
  const project = await ProjectState.start(host);
  await expect.poll(() => nChecks === 1 && !project.agentCheck.checking).toBe(true);
  return { host, project, checks: () => nChecks };
}

describe('the agent of new sessions', () => {
  it('is checked when the window opens, and again with the focus until it is ready', async () => {
    const { host, project, checks } = await start('ready-login');
    expect(project.agentCheck.obstacle?.state.type).toBe('notLoggedIn');
    project.agentCheck.loginShown = true;
    await project.agentCheck.checkAgain();
    expect(checks()).toBe(2);
    expect(project.agentCheck.loginShown).toBe(true);
    host.readiness = { type: 'ready' };
    await project.agentCheck.checkAgain();
    expect(project.agentCheck.obstacle).toBeNull();
    expect(project.agentCheck.loginShown).toBe(false);
    await project.agentCheck.checkAgain();
    expect(checks()).toBe(3);
  });

  it('is checked once more if the focus comes during a check', async () => {
    const { host, project, checks } = await start('ready-login');
    const running = project.agentCheck.check();
    host.readiness = { type: 'ready' };
    await project.agentCheck.checkAgain();
    await project.agentCheck.checkAgain();
    await running;
    expect(checks()).toBe(3);
    expect(project.agentCheck.obstacle).toBeNull();
  });

  it('is found where it was missing', async () => {
    const { host, project } = await start('missing');
    expect(project.agentCheck.readiness?.state.type).toBe('missing');
    expect(project.project.agent.type).toBe('missing');
    expect(project.agentCheck.obstacle).toBeNull();
    host.readiness = { type: 'ready' };
    await project.agentCheck.checkAgain();
    expect(project.project.agent.type).toBe('found');
  });

  it('is checked when another program is set, and the last check counts', async () => {
    const { host, project, checks } = await start('ready-broken');
    const { settings } = project.settings;
    const other = { ...settings, agent: { ...settings.agent, program: '/opt/claude' } };
    const changed: WindowEvent = { type: 'settingsChanged', settings: { ...project.settings, settings: other } };
    host.readiness = OBSTACLES['ready-other'];
    project.hear(changed);
    project.hear(changed);
    await expect.poll(() => project.agentCheck.obstacle?.state.type).toBe('notClaude');
    expect(project.agentCheck.checking).toBe(false);
    expect(checks()).toBe(2);
  });

  it('reports a check that failed, and keeps the last result', async () => {
    const { host, project } = await start('ready-broken');
    host.readiness = OBSTACLES['ready-old'];
    await project.agentCheck.check();
    host.checkReadiness = () => Promise.reject(new Error('the shell is gone'));
    await project.agentCheck.checkAgain();
    expect(project.problems.list).toHaveLength(1);
    expect(project.agentCheck.obstacle?.state.type).toBe('tooOld');
    expect(project.agentCheck.checking).toBe(false);
  });
});
