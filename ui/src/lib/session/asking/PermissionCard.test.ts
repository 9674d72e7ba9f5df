import { fireEvent, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { Decision, PermissionRequest } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { commandRequest, editRequest, oneRuleRequest, subagent } from '../../../fake/script';
import { ARM_MS } from './arming.svelte';
import PermissionCard from './PermissionCard.svelte';

async function card(request: PermissionRequest = commandRequest('q1', 'ls -la'), { focused = true } = {}) {
  const decisions: Decision[] = [];
  const ondecide = vi.fn((decision: Decision) => {
    decisions.push(decision);
    return Promise.resolve(true);
  });
  const moved: () => unknown = () => null;
  const drawn = await draw(PermissionCard, { request, project: 'ledger', moved, ondecide }, { focused });
  await tick();
  return { ...drawn, decisions, ondecide };
}

const button = (name: string) => screen.getByRole('button', { name });
const allowOnce = () => button('Allow once');
const armed = () => allowOnce().getAttribute('aria-disabled') === 'false';

async function advance(clock: { advance(ms: number): void }, ms: number) {
  clock.advance(ms);
  await tick();
}

describe('the contract', () => {
  it('is a group with the three answers', async () => {
    await card();
    const group = screen.getByRole('group', { name: 'Permission request' });
    for (const name of ['Allow once', 'Always allow…', 'Deny']) within(group).getByRole('button', { name });
  });

  it('says what the agent does not say about the call', async () => {
    const words = 'The agent does not say what this call would do beyond its title.';
    await card({ ...commandRequest('q1', 'ls'), unreported: words });
    screen.getByText(words);
  });

  it('breaks no line in the dashes of an option', async () => {
    await card(commandRequest('q1', 'cargo test --release -p a-b -- --nocapture -'));
    const options = [...document.querySelectorAll('pre .option')].map(({ textContent }) => textContent);
    expect(options).toEqual(['--r', '-p', '--n']);
  });

  it('isolates letters that are written from right to left, token by token', async () => {
    const command = 'mv "תיקון דהז" ٣٤-/tmp/\u{1e900}';
    await card(commandRequest('q1', command));
    const pre = document.querySelector('pre');
    expect([...(pre?.querySelectorAll('bdi') ?? [])].map(({ textContent }) => textContent)).toEqual([
      'תיקון',
      'דהז',
      '٣٤',
      '\u{1e900}',
    ]);
    expect(pre?.textContent).toBe(command);
  });

  it('shows the question, the project and the tool', async () => {
    await card();
    screen.getByRole('heading', { name: 'Run this command?' });
    expect(screen.getByText(/· Bash/).textContent.trim()).toBe('In ledger · Bash');
  });
});

describe('the subagent that asks', () => {
  const asked = (description: string) => card({ ...commandRequest('q1', 'ls'), subagent: subagent(description) });

  it('is named, also to a screen reader', async () => {
    await asked('Explore the parser');
    screen.getByRole('group', {
      name: 'Permission request',
      description: 'Run this command? Asked by the subagent “Explore the parser”',
    });
  });

  it('has no character that is not what it seems', async () => {
    await asked('p\u0430rser \u202eok');
    const group = screen.getByRole('group', { name: 'Permission request' });
    expect(within(group).getByText('\\u{202E}')).toBeTruthy();
    expect(group.textContent).not.toContain('\u202e');
    expect(group.querySelector('.asker [title]')?.textContent).toBe('\u0430');
  });

  it('is said without a name if it has none, and not said of the agent itself', async () => {
    const { unmount } = await asked('');
    screen.getByText('Asked by a subagent');
    unmount();
    await card();
    expect(screen.queryByText(/subagent/)).toBeNull();
  });
});

describe('arming', () => {
  it('allows nothing until the card has been seen for 700 ms', async () => {
    const { clock, decisions } = await card();
    expect(armed()).toBe(false);
    await fireEvent.click(allowOnce());
    await advance(clock, ARM_MS - 1);
    expect(armed()).toBe(false);
    await fireEvent.click(allowOnce());
    expect(decisions).toEqual([]);
    await advance(clock, 1);
    expect(armed()).toBe(true);
    await fireEvent.click(allowOnce());
    expect(decisions).toEqual([{ type: 'allowOnce', updatedInput: null }]);
  });

  it('does not begin while the window is behind another one', async () => {
    const { clock, attention } = await card(undefined, { focused: false });
    await advance(clock, 10 * ARM_MS);
    expect(armed()).toBe(false);
    attention.focused = true;
    await tick();
    // The click that brought the window to the front arrives now.
    expect(armed()).toBe(false);
    await advance(clock, ARM_MS);
    expect(armed()).toBe(true);
  });

  it('begins again when the focus comes back', async () => {
    const { clock, attention } = await card();
    await advance(clock, ARM_MS);
    attention.focused = false;
    await tick();
    expect(armed()).toBe(false);
    attention.focused = true;
    await tick();
    expect(armed()).toBe(false);
  });

  it('begins again when another card moves this one', async () => {
    const { clock, redraw } = await card();
    await advance(clock, ARM_MS);
    await redraw({ moved: () => 'other cards' });
    await tick();
    expect(armed()).toBe(false);
  });

  it('does not count a press that began before', async () => {
    const { clock, decisions } = await card();
    await fireEvent.pointerDown(allowOnce());
    await advance(clock, ARM_MS);
    await fireEvent.click(allowOnce(), { detail: 1 });
    expect(decisions).toEqual([]);
    await fireEvent.pointerDown(allowOnce());
    await fireEvent.click(allowOnce(), { detail: 1 });
    expect(decisions).toHaveLength(1);
  });

  it('does not count a press that was made before and arrives late', async () => {
    const { clock, decisions } = await card();
    await advance(clock, ARM_MS);
    const at = Number(allowOnce().dataset['armedAt']);
    const late = (event: Event, by: number) => Object.defineProperty(event, 'timeStamp', { value: at - by });
    await fireEvent(allowOnce(), late(new MouseEvent('pointerdown', { bubbles: true }), 400));
    await fireEvent.click(allowOnce(), { detail: 1 });
    await fireEvent(allowOnce(), late(new KeyboardEvent('keydown', { key: ' ', bubbles: true }), 400));
    await fireEvent.click(allowOnce(), { detail: 0 });
    expect(decisions).toEqual([]);
    // The clock of a display may be another one.
    await fireEvent(allowOnce(), late(new MouseEvent('pointerdown', { bubbles: true }), 1e9));
    await fireEvent.click(allowOnce(), { detail: 1 });
    expect(decisions).toHaveLength(1);
  });

  it('does not count Space that was held before', async () => {
    const { clock, decisions } = await card();
    await fireEvent.keyDown(allowOnce(), { key: ' ' });
    await advance(clock, ARM_MS);
    await fireEvent.click(allowOnce());
    expect(decisions).toEqual([]);
    // A screen reader clicks without a press.
    await fireEvent.click(allowOnce());
    expect(decisions).toHaveLength(1);
  });

  it('lets Deny through at once', async () => {
    const { decisions } = await card();
    await fireEvent.click(button('Deny'));
    expect(decisions).toEqual([{ type: 'deny', message: '', interrupt: false }]);
  });
});

describe('keys', () => {
  it('never allows with Enter; Space does', async () => {
    const user = userEvent.setup();
    const { clock, decisions } = await card();
    await advance(clock, ARM_MS);
    allowOnce().focus();
    await user.keyboard('{Enter}{Enter}');
    expect(decisions).toEqual([]);
    await user.keyboard(' ');
    expect(decisions).toEqual([{ type: 'allowOnce', updatedInput: null }]);
  });

  it('takes no focus when it appears', async () => {
    await card();
    expect(document.activeElement).toBe(document.body);
  });

  it('answers once, however often it is pressed', async () => {
    const { clock, ondecide } = await card();
    await advance(clock, ARM_MS);
    await fireEvent.click(allowOnce());
    await fireEvent.click(allowOnce());
    await fireEvent.click(button('Deny'));
    expect(ondecide).toHaveBeenCalledTimes(1);
  });

  it('can be answered again when the answer was not taken', async () => {
    const ondecide = vi.fn(() => Promise.resolve(false));
    await draw(PermissionCard, { request: commandRequest('q1', 'ls'), project: 'ledger', ondecide });
    await fireEvent.click(button('Deny'));
    await tick();
    await fireEvent.click(button('Deny'));
    expect(ondecide).toHaveBeenCalledTimes(2);
  });
});

describe('what is shown', () => {
  const subject = () => screen.getByRole('group', { name: 'Requested action' });

  it('writes out what cannot be seen, and says so', async () => {
    const words = ['1 hidden character changes the direction of the text: \\u{202E}', 'c\u0430t looks like cat'];
    const notices = [
      { kind: 'direction' as const, words: words[0] ?? '' },
      { kind: 'lookAlike' as const, words: words[1] ?? '' },
    ];
    const { container } = await card({ ...commandRequest('q1', 'c\u0430t build\u202e/*\u200b'), notices });
    const escapes = [...subject().querySelectorAll('.esc')].map((escape) => escape.textContent);
    expect(escapes).toEqual(['\\u{202E}', '\\u{200B}']);
    expect(subject().querySelector('.lookalike')?.textContent).toBe('\u0430');
    const told = within(screen.getByRole('list', { name: 'Warnings' })).getAllByRole('listitem');
    expect(told.map((item) => item.textContent)).toEqual(words);
    expect(container.textContent).not.toMatch(/[\u202e\u200b]/);
  });

  it('marks blanks, tabs and new lines, and names them', async () => {
    await card(commandRequest('q1', 'a  b\tc\nd'));
    for (const name of ['2 spaces', 'tab', 'new line']) within(subject()).getByRole('img', { name });
  });

  it('never cuts', async () => {
    const long = 'x'.repeat(200_000) + 'END';
    await card(commandRequest('q1', long));
    expect(subject().textContent).toBe(long);
  });

  it('shows markup as text', async () => {
    const { container } = await card(commandRequest('q1', '<img src=x onerror=alert(1)><b>bold</b>'));
    expect(subject().textContent).toContain('<img src=x onerror=alert(1)>');
    expect(container.querySelector('img, b')).toBeNull();
  });

  it('has the whole input on demand, escapes and all', async () => {
    const request = { ...commandRequest('q1', 'ls'), inputText: '{"command": "ls", "note": "\u202egpj", "n": 1e400}' };
    await card(request);
    expect(screen.queryByRole('group', { name: 'Full input' })).toBeNull();
    await userEvent.setup().click(screen.getByText('Full input'));
    const details = screen.getByText('Full input').closest('details');
    if (details && !details.open) {
      details.open = true;
      await fireEvent(details, new Event('toggle'));
    }
    const whole = screen.getByRole('group', { name: 'Full input' }).textContent;
    expect(whole).toContain('\\u{202E}gpj');
    expect(whole).toContain('1e400');
  });

  it('opens the whole input where the subject leaves something out, and names the host', async () => {
    const request = { ...commandRequest('q1', 'https://a@b.example'), hasMore: true, host: 'b.example' };
    await card(request);
    const whole = screen.getByRole('group', { name: 'Full input' });
    expect(whole.textContent).toContain('timeout');
    screen.getByText('b.example');
  });

  it('shows an edit as a diff', async () => {
    await card(editRequest('q1'));
    const diff = screen.getByRole('group', { name: 'Changes in src/money.rs' });
    expect(diff.querySelectorAll('.added')).toHaveLength(2);
    const strong = [...diff.querySelectorAll('.removed .strong')].map((part) => part.textContent);
    expect(strong.join('')).toBe('round_dp(places)');
    expect(diff.querySelector('.removed .comment')?.textContent).toContain('half away from zero');
  });
});

describe('always allow', () => {
  it('lists the rules exactly, none chosen, and asks for one', async () => {
    const user = userEvent.setup({ advanceTimers: () => {} });
    const { clock, decisions } = await card();
    await fireEvent.click(button('Always allow…'));
    const choices = screen.getAllByRole('radio');
    expect(choices).toHaveLength(2);
    expect(choices.every((choice) => !(choice as HTMLInputElement).checked)).toBe(true);
    screen.getByText((_, element) => element?.matches('.revealed') === true && element.textContent === 'Bash(ls -la)');
    screen.getByText('Saved for you in this project (.claude/settings.local.json)');
    const keep = button('Always allow');
    await advance(clock, ARM_MS);
    await fireEvent.click(keep);
    expect(decisions).toEqual([]);
    await user.click(screen.getByRole('radio', { name: /Accept edits/ }));
    await user.keyboard('{Enter}');
    expect(decisions).toEqual([]);
    await fireEvent.click(keep);
    expect(decisions).toEqual([{ type: 'allowAlways', suggestion: 'mode' }]);
  });

  it('saves the only rule in one step, once its scope has been in sight', async () => {
    const { clock, decisions } = await card(oneRuleRequest('q1', 'ls -la'));
    const always = button('Always allow');
    const scope = document.getElementById(always.getAttribute('aria-describedby') ?? '');
    expect(scope?.textContent).toContain('Bash(ls -la)');
    expect(scope?.textContent).toContain('Saved for you in this project (.claude/settings.local.json)');
    expect(screen.queryByRole('button', { name: 'Always allow…' })).toBeNull();
    await fireEvent.click(always);
    expect(decisions, 'it is not armed yet').toEqual([]);
    await advance(clock, ARM_MS);
    expect(always.dataset['answer']).toBe('always-allow');
    always.focus();
    await userEvent.setup({ advanceTimers: () => {} }).keyboard('{Enter}');
    expect(decisions, 'Enter never allows').toEqual([]);
    await fireEvent.click(always);
    expect(decisions).toEqual([{ type: 'allowAlways', suggestion: 'rule' }]);
  });

  it('saves no rule in one step for an edited request', async () => {
    const user = userEvent.setup({ advanceTimers: () => {} });
    const { clock, decisions } = await card(oneRuleRequest('q1', 'ls'));
    const always = button('Always allow');
    await user.click(button('Edit'));
    await user.type(screen.getByRole('textbox', { name: 'Command' }), ' src');
    await advance(clock, ARM_MS);
    await user.click(always);
    await user.click(button('Apply edit'));
    await advance(clock, ARM_MS);
    await user.click(always);
    expect(decisions).toEqual([]);
    expect(always.title).toBe('An edited request can only be allowed once');
    await user.click(button('Undo edit'));
    await advance(clock, ARM_MS);
    await user.click(always);
    expect(decisions).toEqual([{ type: 'allowAlways', suggestion: 'rule' }]);
  });

  it('opens the choice by its key where there are several rules', async () => {
    const { decisions } = await card();
    const choice = button('Always allow…');
    expect(choice.dataset).toMatchObject({ answer: 'always-allow', armed: 'true' });
    await fireEvent.click(choice);
    expect(screen.getAllByRole('radio')).toHaveLength(2);
    expect(decisions).toEqual([]);
  });

  it('is there but cannot be pressed when the agent offers no rule', async () => {
    await card({ ...commandRequest('q1', 'ls'), suggestions: [] });
    expect((button('Always allow…') as HTMLButtonElement).disabled).toBe(true);
  });
});

describe('other answers', () => {
  it('denies with a reason, and with a stop', async () => {
    const user = userEvent.setup();
    const { decisions } = await card();
    await user.click(button('Deny with reason…'));
    await user.keyboard('Use make instead');
    await user.click(button('Deny and stop the turn'));
    expect(decisions).toEqual([{ type: 'deny', message: 'Use make instead', interrupt: true }]);
  });

  it('allows an input that was changed, and shows the change first', async () => {
    const user = userEvent.setup();
    const { clock, decisions } = await card();
    await user.click(button('Edit'));
    const box = screen.getByRole('textbox', { name: 'Command' });
    await user.clear(box);
    await user.type(box, 'ls src');
    await user.click(button('Apply edit'));
    expect(screen.getByRole('group', { name: 'Changed input' }).textContent).toContain('ls src');
    await advance(clock, ARM_MS);
    await user.click(allowOnce());
    const updatedInput = { type: 'field', name: 'command', text: 'ls src' };
    expect(decisions).toEqual([{ type: 'allowOnce', updatedInput }]);
  });

  it('allows nothing while a change is being written', async () => {
    const user = userEvent.setup();
    const { clock, decisions } = await card();
    await user.click(button('Edit'));
    await user.type(screen.getByRole('textbox', { name: 'Command' }), ' src');
    await advance(clock, ARM_MS);
    await user.click(allowOnce());
    expect(decisions, 'what stands in the box is not what would run').toEqual([]);
    await user.click(button('Cancel'));
    await advance(clock, ARM_MS);
    await user.click(allowOnce());
    expect(decisions).toEqual([{ type: 'allowOnce', updatedInput: null }]);
  });

  it('keeps no rule for what was changed', async () => {
    const user = userEvent.setup();
    await card();
    const always = button('Always allow…') as HTMLButtonElement;
    await user.click(button('Edit'));
    await user.type(screen.getByRole('textbox', { name: 'Command' }), ' src');
    await user.click(button('Apply edit'));
    expect(always.disabled).toBe(true);
    await user.click(button('Undo edit'));
    expect(always.disabled).toBe(false);
  });

  it('reads out what the box holds where it is not what it seems', async () => {
    const user = userEvent.setup();
    await card(commandRequest('q1', 'ls'));
    await user.click(button('Edit'));
    const box = screen.getByRole('textbox', { name: 'Command' });
    const reading = () => screen.queryByRole('group', { name: 'Text with hidden characters shown' });
    expect(reading(), 'nothing is odd about it').toBeNull();
    await fireEvent.input(box, { target: { value: 'ls \u202e c\u0430t' } });
    expect(reading()?.textContent).toBe('ls \\u{202E} c\u0430t');
    expect(reading()?.querySelector('.lookalike')?.textContent).toBe('\u0430');
    const told = within(screen.getByRole('list', { name: 'Warnings' })).getAllByRole('listitem');
    expect(told.map((item) => item.textContent)).toEqual([
      '1 hidden character changes the direction of the text',
      '1 character looks like another',
    ]);
  });

  it('sends an input that was edited as JSON exactly as it was written', async () => {
    const user = userEvent.setup();
    const inputText = '{\n  "n": 1e400,\n  "n": 1.0\n}';
    const request = { ...commandRequest('q1', ''), kind: { type: 'other' } as const, subject: inputText, inputText };
    const { clock, decisions } = await card(request);
    await user.click(button('Edit'));
    const box = screen.getByRole('textbox', { name: 'Input (JSON)' });
    expect((box as HTMLTextAreaElement).value).toBe(inputText);
    await fireEvent.input(box, { target: { value: '[1]' } });
    await user.click(button('Apply edit'));
    screen.getByRole('alert');
    const json = inputText.replace('1.0', '2.50');
    await fireEvent.input(box, { target: { value: json } });
    await user.click(button('Apply edit'));
    await advance(clock, ARM_MS);
    await user.click(allowOnce());
    expect(decisions).toEqual([{ type: 'allowOnce', updatedInput: { type: 'whole', json } }]);
  });
});
