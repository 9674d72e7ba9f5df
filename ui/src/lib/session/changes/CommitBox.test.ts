import { screen, within } from '@testing-library/svelte';
import type { UserEvent } from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { CommitRequest, Committed, WindowEvent } from '../../bindings/api';
import { diffLines } from '../../document/diffLines';
import { FakeHost } from '../../../fake/host';
import { COMMIT_BOX, COMMIT_STATE, WORKING } from '../../../fake/changes';
import type { FakeSession } from '../../../fake/session';
import { endSide } from '../../../fake/sideQuestions';
import { CAPABILITIES } from '../../../fake/facts';
import { openHost } from '../../../test/app';
import { chosenPart, messageIn } from '../commitProposal.svelte';

beforeEach(() => localStorage.clear());

/** Sends an event to the window. */
const say = (host: FakeHost, event: WindowEvent) =>
  (host as unknown as { hear: (event: WindowEvent) => void }).hear(event);

/** The page of changes with the keyboard in the message of a commit. */
async function opened(host = new FakeHost('normal')) {
  host.workingChanges = WORKING;
  const { user, unmount } = await openHost(host);
  const page = await shown(user);
  return { host, user, page, unmount };
}

async function shown(user: UserEvent) {
  await user.keyboard('{Control>}{Shift>}L{/Shift}{/Control}');
  const page = within(await screen.findByRole('dialog', { name: 'Changes', hidden: true }));
  const message = await page.findByRole<HTMLTextAreaElement>('textbox', { name: 'Commit message', hidden: true });
  await vi.waitFor(() => expect(document.activeElement).toBe(message));
  await page.findByText('half-even');
  return page;
}

type Page = Awaited<ReturnType<typeof shown>>;
const box = (page: Page, name: string) => page.getByRole<HTMLInputElement>('checkbox', { name, hidden: true });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, hidden: true });

it('commits the chosen files with the keyboard, says so, and undoes it', async () => {
  const { host, user, page } = await opened();
  const commits = vi.spyOn(host, 'commit');
  // A staged file is chosen. A file that is staged in another version, or that cannot be committed, is not.
  expect(box(page, 'Commit rounding.md').checked).toBe(true);
  expect(box(page, 'Commit old.rs').checked).toBe(false);
  expect(box(page, 'Commit import.rs').disabled).toBe(true);
  page.getByText(/1 file is staged in another version/u);
  expect(button(page, 'Commit 1 file').title).toContain('git commit --quiet --file=-');

  await user.keyboard('{Control>}{Enter}{/Control}');
  expect(commits).not.toHaveBeenCalled();
  await user.keyboard('Round to even{Enter}{Enter}As the bank does.');
  box(page, 'Commit money.rs').focus();
  await user.keyboard(' ');
  await user.click(box(page, 'Sign off'));
  expect(button(page, 'Commit 2 files').title).toContain('--signoff');
  page.getByRole('textbox', { name: 'Commit message', hidden: true }).focus();
  await user.keyboard('{Control>}{Enter}{/Control}');
  await page.findByText('Committed 2 files on half-even.');
  const whole = { version: null, hunks: null };
  expect(commits.mock.calls).toEqual([
    [
      {
        files: {
          only: [
            { path: 'docs/rounding.md', ...whole },
            { path: 'src/money.rs', ...whole },
          ],
        },
        message: 'Round to even\n\nAs the bank does.',
        signoff: true,
        amend: false,
        head: COMMIT_STATE.head,
      },
      false,
    ],
  ]);
  expect(page.getByRole<HTMLTextAreaElement>('textbox', { name: 'Commit message', hidden: true }).value).toBe('');
  await page.findByText(/^10 files · /u);

  await user.click(button(page, 'Undo commit'));
  await page.findByText(/^12 files · /u);
  await expect.poll(() => document.activeElement?.textContent).toBe('The commit is undone. Its changes are staged.');
  const message = page.getByRole<HTMLTextAreaElement>('textbox', { name: 'Commit message', hidden: true });
  expect(message.value).toBe('Round to even\n\nAs the bank does.');
});

it('chooses all files, none, and a part of one, which a new version of the file takes back', async () => {
  const { host, user, page } = await opened();
  const all = page.getByRole<HTMLInputElement>('checkbox', { name: /^Commit all/u, hidden: true });
  expect(all.indeterminate).toBe(true);
  await user.click(all);
  // Not the file in conflict, and not the named pipe.
  page.getByText(/10 of 10 files chosen/u);
  await user.click(all);
  button(page, 'Commit');
  page.getByText(/^Choose a file first\./u);

  const read = host.answers.fileDiff;
  let version = 'one';
  host.answers.fileDiff = async (session, query) => {
    const diff = await read(session, query);
    const [first] = diff.diff?.hunks ?? [];
    if (query.path !== 'src/money.rs' || diff.diff === null || first === undefined) return diff;
    const lines = diffLines(first).map((line) => ({
      ...line,
      oldLine: line.oldLine === null ? null : line.oldLine + 50,
      newLine: line.newLine === null ? null : line.newLine + 50,
    }));
    return { ...diff, diff: { ...diff.diff, hunks: [first, { lines }] }, version };
  };
  const commits = vi.spyOn(host, 'commit').mockRejectedValue({
    code: 'changedSince',
    files: ['src/money.rs'],
    message: 'src/money.rs has changed since it was shown. Look at its change again.',
    detail: null,
  });
  await user.click(button(page, /^Changed: src\/money.rs/u));
  await user.click(await page.findByRole('checkbox', { name: 'Commit lines 62–63 of money.rs', hidden: true }));
  expect(box(page, 'Commit money.rs').indeterminate).toBe(true);
  await user.click(page.getByRole('textbox', { name: 'Commit message', hidden: true }));
  await user.keyboard('A part');
  version = 'two';
  await user.click(button(page, 'Commit 1 file'));
  await page.findByText('src/money.rs has changed since it was shown. Look at its change again.');
  const hunks = [{ oldStart: 61, nOld: 3, newStart: 61, nNew: 4 }];
  const [[request] = []] = commits.mock.calls as [CommitRequest, boolean][];
  expect(request?.files).toEqual({ only: [{ path: 'src/money.rs', version: 'one', hunks }] });
  await page.findByText('src/money.rs has changed. Choose its parts again.');
  button(page, 'Commit');
  // Both parts are the whole file.
  await user.click(box(page, 'Commit lines 12–13 of money.rs'));
  await user.click(box(page, 'Commit lines 62–63 of money.rs'));
  expect([box(page, 'Commit money.rs').checked, box(page, 'Commit money.rs').indeterminate]).toEqual([true, false]);
});

it('shows the output of hooks, stops them, and keeps the message and the choice of a refused commit', async () => {
  const { host, user, page } = await opened();
  let refuse: (reason: unknown) => void = () => undefined;
  host.commit = () => new Promise<Committed>((_, reject) => (refuse = reject));
  const output = 'one\ntwo\nthree\nfour\nfive\nsix';
  const stops = vi.spyOn(host, 'stopCommit').mockImplementation(() => {
    refuse({ code: 'refused', message: 'The commit was cancelled.', detail: output });
    return Promise.resolve();
  });
  await user.keyboard('Round{Control>}{Enter}{/Control}');
  await page.findByRole('button', { name: 'Stop', hidden: true });
  // The list of changes is read again meanwhile. The choice does not depend on it.
  const states = vi.spyOn(host, 'commitState').mockResolvedValue({ type: 'running' });
  window.dispatchEvent(new Event('focus'));
  await page.findByText(/^12 files · /u);
  expect(states).not.toHaveBeenCalled();
  states.mockResolvedValue(COMMIT_BOX);
  say(host, { type: 'commitOutput', text: '\u001b[31mlint…\u001b[0m\n' });
  say(host, { type: 'commitOutput', text: 'x'.repeat(100_000) });
  say(host, { type: 'commitOutput', text: '\nend\u202E' });
  const log = await page.findByRole('log', { name: 'Output of the commit', hidden: true });
  await vi.waitFor(() => expect(log.textContent).toMatch(/x\nend\\u\{202E\}$/u));
  expect(log.textContent.length).toBeLessThan(20_000);
  await user.click(button(page, 'Stop'));
  expect(stops).toHaveBeenCalledOnce();
  const failure = within(await page.findByRole('alert', { hidden: true }));
  failure.getByText('The commit was cancelled.');
  expect(failure.getByText(/^one/u).textContent).toBe('one\ntwo\nthree\nfour');
  failure.getByText('2 more lines');
  expect(page.getByRole<HTMLTextAreaElement>('textbox', { name: 'Commit message', hidden: true }).value).toBe('Round');
  expect(box(page, 'Commit rounding.md').checked).toBe(true);
});

it('keeps the message when the page is closed, and when the window is loaded again', async () => {
  const first = await opened();
  await first.user.keyboard('Round to');
  await first.user.click(button(first.page, 'Close'));
  const again = await shown(first.user);
  const written = (page: Page) =>
    page.getByRole<HTMLTextAreaElement>('textbox', { name: 'Commit message', hidden: true }).value;
  expect(written(again)).toBe('Round to');
  first.unmount();
  const second = await opened();
  expect(written(second.page)).toBe('Round to');
  // Amending has the message of the last commit, and gives the other one back.
  await second.user.click(box(second.page, 'Amend'));
  expect(written(second.page)).toMatch(/^Round half to even\n\nThe bank/u);
  button(second.page, 'Amend with 1 file');
  await second.user.click(box(second.page, 'Amend'));
  expect(written(second.page)).toBe('Round to');
});

it('follows a commit that began before the page was loaded, and says why none can be made', async () => {
  const host = new FakeHost('normal');
  host.commitBox = { type: 'running' };
  host.workingChanges = WORKING;
  const { user } = await openHost(host);
  await user.keyboard('{Control>}{Shift>}L{/Shift}{/Control}');
  const page = within(await screen.findByRole('dialog', { name: 'Changes', hidden: true }));
  await page.findByRole('button', { name: 'Stop', hidden: true });
  const problem = { code: 'refused' as const, message: 'A rebase is not finished. Finish it first.', detail: null };
  host.commitBox = { type: 'refused', problem };
  say(host, { type: 'commitEnded' });
  await page.findByText('A rebase is not finished. Finish it first.');
  expect(page.queryByRole('button', { name: 'Stop', hidden: true })).toBeNull();
  const commits = vi.spyOn(host, 'commit');
  await user.click(page.getByRole('textbox', { name: 'Commit message', hidden: true }));
  await user.keyboard('Round{Control>}{Enter}{/Control}');
  expect(commits).not.toHaveBeenCalled();
});

it('names the programs of a commit, and leaves them out if the user wants that', async () => {
  const host = new FakeHost('normal');
  const amendment = { type: 'possible' as const, message: 'Round', programs: ['pre-commit', 'post-rewrite'] };
  const repository = { ...COMMIT_STATE, programs: ['pre-commit'], amendment };
  host.commitBox = { type: 'ready', repository, isTrusted: false };
  const { user, page } = await opened(host);
  const commits = vi.spyOn(host, 'commit');
  page.getByText(/Deskbell asks in a dialog before it runs\s+pre-commit\./u);
  expect(button(page, 'Commit 1 file').title).toContain('git commit --quiet');
  await user.click(box(page, 'Amend'));
  page.getByText(/it runs\s+pre-commit, post-rewrite\./u);
  await user.click(box(page, 'Amend'));
  await user.click(box(page, 'Skip hooks'));
  expect(button(page, 'Commit 1 file').title).toContain('git commit-tree');
  await user.click(page.getByRole('textbox', { name: 'Commit message', hidden: true }));
  await user.keyboard('Round{Control>}{Enter}{/Control}');
  await page.findByText('Committed 1 file on half-even.');
  expect(commits.mock.calls[0]?.[1]).toBe(true);
});

it('offers no commit on another machine and none against another moment', async () => {
  const host = new FakeHost('far');
  host.workingChanges = WORKING;
  const { user } = await openHost(host);
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const page = within(await screen.findByRole('dialog', { name: 'Changes', hidden: true }));
  await page.findByText(/Commits are not available here for files on box/u);
  expect(page.queryByRole('textbox', { name: 'Commit message', hidden: true })).toBeNull();
});

describe('a proposed message', () => {
  const written = (page: Page) =>
    page.getByRole<HTMLTextAreaElement>('textbox', { name: 'Commit message', hidden: true }).value;
  const sideOf = (host: FakeHost) => host.session('s1') as FakeSession;

  it('is asked for with the chosen changes, fills the box, and gives the text before it back', async () => {
    const { host, user, page } = await opened();
    const items = sideOf(host).items.length;
    page.getByText('Asks the agent: costs one small call.');
    await user.keyboard('My words');
    await user.click(button(page, 'Propose a message'));
    await vi.waitFor(() => expect(written(page)).toBe('Round half to even in totals\n\nThe bank does it that way.'));
    const [asked] = sideOf(host).facts.sideQuestions;
    expect(asked?.purpose).toBe('commitMessage');
    expect(asked?.question).toContain('The user has written this so far:\nMy words');
    expect(asked?.question).toMatch(/Files:\n\w+ docs\/rounding\.md/u);
    expect(asked?.question).not.toContain('import.rs');
    expect(sideOf(host).items.length).toBe(items);
    await user.click(button(page, 'Use my text again'));
    expect(written(page)).toBe('My words');
    expect(page.queryByRole('button', { name: 'Use my text again', hidden: true })).toBeNull();
  });

  it('can be cancelled, and says why there is none', async () => {
    const { host, user, page } = await opened();
    const read = host.answers.patch;
    host.answers.patch = async (...given) => {
      const patch = await read(...given);
      return { ...patch, text: `${'x'.repeat(30_000)}\n` };
    };
    const commands = vi.spyOn(host, 'command');
    const never = commands.mockImplementation(async (_, command) => {
      if (command.type !== 'askSide') return;
      const outcome = { type: 'waiting' as const, retry: null };
      sideOf(host).patch({ sideQuestions: [{ ...command, askedAt: 0, outcome }] });
    });
    await user.click(button(page, 'Propose a message'));
    await page.findByText('The agent proposes a message…');
    const [one] = sideOf(host).facts.sideQuestions;
    expect(one?.question).toContain('Changes (only their beginning):');
    expect(one?.question.length).toBeLessThan(26_000);
    await user.click(button(page, 'Cancel'));
    expect(never.mock.lastCall).toEqual(['s1', { type: 'cancelSide', id: one?.id }]);
    await vi.waitFor(() => expect(document.activeElement).toBe(button(page, 'Propose a message')));

    await user.click(button(page, 'Propose a message'));
    await page.findByText('The agent proposes a message…');
    const id = sideOf(host).facts.sideQuestions.at(-1)?.id ?? '';
    endSide(sideOf(host), id, { type: 'failed', message: 'API error: 529' });
    await page.findByText('No message was proposed: API error: 529');
    expect(written(page)).toBe('');
  });

  it('is not offered where the agent cannot, or nothing is chosen', async () => {
    const { host, user, page } = await opened();
    const commands = vi.spyOn(host, 'command');
    sideOf(host).patch({ capabilities: { ...CAPABILITIES, sideQuestions: false } });
    await page.findByText('This version of the agent does not answer side questions.');
    await user.click(button(page, 'Propose a message'));
    sideOf(host).patch({ capabilities: CAPABILITIES });
    await user.click(box(page, 'Commit rounding.md'));
    await page.findByText('Choose the files of the commit first.');
    await user.click(button(page, 'Propose a message'));
    expect(commands).not.toHaveBeenCalled();
  });

  it('is the text without fences, labels and quotes', () => {
    const cases: [string, string][] = [
      ['  Round\n\nAs the bank does. \n', 'Round\n\nAs the bank does.'],
      ['```\nRound\n```', 'Round'],
      ['```text\nRound\n\nUse `even`.\n```\n', 'Round\n\nUse `even`.'],
      ['Here it is:\n\n```\nRound\n```\n\nShall I commit?', 'Round'],
      ['````\nShow ```code```\n````', 'Show ```code```'],
      ['"Round"', 'Round'],
      ['“Round half”', 'Round half'],
      ['`Round`', 'Round'],
      ['Commit message: Round', 'Round'],
      ['**Commit message:**\nRound', 'Round'],
      ['"Round" and "even"', '"Round" and "even"'],
      ['Say "no"', 'Say "no"'],
      ['Use:\n```\na\n```\nand\n```\nb\n```', 'Use:\n```\na\n```\nand\n```\nb\n```'],
      ['```\n```', ''],
      [' ', ''],
      ['"', '"'],
    ];
    for (const [answer, message] of cases) expect(messageIn(answer), answer).toBe(message);
  });

  it('is about the chosen parts of a file', () => {
    const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ one\n-a\n+b\n+@@ c\n@@ -9,2 +10,2 @@\n-d\n+e\n';
    const place = { oldStart: 1, nOld: 1, newStart: 1, nNew: 2 };
    expect(chosenPart(patch, { hunks: null })).toBe(patch);
    expect(chosenPart(patch, { hunks: [place] })).toBe(patch.slice(0, patch.indexOf('@@ -9')));
    expect(chosenPart(patch, { hunks: [{ ...place, nNew: 3 }] })).not.toContain('@@ -');
  });
});
