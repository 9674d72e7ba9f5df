import { cleanup, fireEvent, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { AgentCapabilities, Command, Decision, PermissionRequest } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { session } from '../../../test/make';
import { Later } from '../../kit/later.svelte';
import { CAPABILITIES } from '../../../fake/facts';
import { document as markdown } from '../../../fake/markdown';
import { commandRequest, formRequest, planRequest, previewRequest, questionRequest } from '../../../fake/script';
import { ARM_MS } from './arming.svelte';
import FormContent from './FormContent.svelte';
import { FORM } from './later';
import PlanCard from './PlanCard.svelte';
import QuestionCard from './QuestionCard.svelte';
import RequestStack from './RequestStack.svelte';

const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name });

function deciding() {
  const decisions: Decision[] = [];
  const ondecide = (decision: Decision) => {
    decisions.push(decision);
    return Promise.resolve(true);
  };
  return { decisions, ondecide };
}

describe('questions', () => {
  async function questions() {
    const { decisions, ondecide } = deciding();
    const request = questionRequest('q1');
    if (request.kind.type !== 'questions') throw new Error('not a question');
    await draw(QuestionCard, { request, questions: request.kind.questions, ondecide });
    return { decisions, user: userEvent.setup() };
  }

  it('sends one answer for each question, several joined', async () => {
    const { decisions, user } = await questions();
    expect(button('Answer').disabled).toBe(true);
    await user.click(screen.getByRole('radio', { name: /Recompute/ }));
    await user.click(screen.getByRole('checkbox', { name: /Property/ }));
    await user.click(screen.getByRole('checkbox', { name: /Unit/ }));
    await user.click(button('Answer'));
    expect(decisions).toEqual([
      {
        type: 'answer',
        answers: {
          'What should happen to totals that are already stored?': 'Recompute them',
          'Where should the cases be tested?': 'Unit tests, Property tests',
        },
      },
    ]);
  });

  it('takes words instead of a choice', async () => {
    const { decisions, user } = await questions();
    const [first, second] = screen.getAllByRole('textbox');
    await user.click(screen.getByRole('radio', { name: /Leave/ }));
    await user.type(first as HTMLElement, 'Ask the accountant');
    expect(screen.getByRole<HTMLInputElement>('radio', { name: /Leave/ }).checked).toBe(false);
    await user.type(second as HTMLElement, 'By hand');
    await user.click(button('Answer'));
    expect(decisions[0]).toMatchObject({
      answers: {
        'What should happen to totals that are already stored?': 'Ask the accountant',
        'Where should the cases be tested?': 'By hand',
      },
    });
  });

  it('keeps equal options and equal questions apart', async () => {
    const { decisions, ondecide } = deciding();
    const option = (label: string, description: string) => ({ label, description, preview: null });
    const one = { text: 'Which?', header: '', multiSelect: false };
    const equal = [
      { ...one, options: [option('Yes', 'now'), option('Yes', 'later'), option('No', 'never')] },
      { ...one, multiSelect: true, options: [option('A', ''), option('A', ''), option('B', 'last')] },
    ];
    await draw(QuestionCard, { request: questionRequest('q1'), questions: equal, ondecide });
    const user = userEvent.setup();
    const choices = [...screen.getAllByRole<HTMLInputElement>('radio'), ...screen.getAllByRole('checkbox')];
    await user.click(choices[0] as HTMLElement);
    await user.click(choices[1] as HTMLElement);
    await user.click(choices[5] as HTMLElement);
    await user.click(choices[4] as HTMLElement);
    expect(choices.map((choice) => (choice as HTMLInputElement).checked)).toEqual([
      ...[false, true, false],
      ...[false, true, true],
    ]);
    await user.click(button('Answer'));
    expect(decisions).toEqual([{ type: 'answer', answers: { 'Which?': 'Yes (later), A, B' } }]);
  });

  it('shows the preview of the option that the pointer or the focus is on, as text', async () => {
    const request = previewRequest('q1');
    if (request.kind.type !== 'questions') throw new Error('not a question');
    const { ondecide } = deciding();
    await draw(QuestionCard, { request, questions: request.kind.questions, ondecide });
    const user = userEvent.setup();
    const preview = () => screen.getByRole('group', { name: /^Preview of/ });
    expect(preview().textContent).toContain('<b>No markup</b>');
    await user.hover(screen.getByText('Half up', { selector: 'label *' }));
    expect(preview().textContent).toContain('0.13');
    screen.getByRole('radio', { name: /Truncate/ }).focus();
    await tick();
    expect(preview().textContent).toMatch(/^Truncate\s*No preview$/);
  });

  it('chooses by number keys, in the question with the focus or the first without an answer', async () => {
    const { decisions, user } = await questions();
    const card = screen.getByRole('group', { name: 'Question' });
    card.focus();
    await user.keyboard('2');
    expect(screen.getByRole<HTMLInputElement>('radio', { name: /Recompute/ }).checked).toBe(true);
    expect(document.activeElement).toBe(screen.getByRole('checkbox', { name: /Unit/ }));
    await user.keyboard('31');
    const chosen = screen.getAllByRole<HTMLInputElement>('checkbox').map(({ checked }) => checked);
    expect(chosen).toEqual([true, false, true]);
    // Anything else chooses nothing, and text fields get their digits.
    await user.keyboard('9{Control>}2{/Control}');
    const [own] = screen.getAllByRole<HTMLInputElement>('textbox');
    await user.type(own as HTMLElement, '1 of 2');
    expect(own?.value).toBe('1 of 2');
    await user.click(button('Answer'));
    expect(decisions[0]).toMatchObject({
      answers: {
        'What should happen to totals that are already stored?': '1 of 2',
        'Where should the cases be tested?': 'Unit tests, The import of the report',
      },
    });
  });

  it('chooses by the key that a digit is printed on, without Shift', async () => {
    await questions();
    const card = screen.getByRole('group', { name: 'Question' });
    const { checked } = screen.getByRole<HTMLInputElement>('radio', { name: /Leave/ });
    await fireEvent.keyDown(card, { key: '!', code: 'Digit1', shiftKey: true });
    expect(checked).toBe(false);
    await fireEvent.keyDown(card, { key: '&', code: 'Digit1' });
    expect(screen.getByRole<HTMLInputElement>('radio', { name: /Leave/ }).checked).toBe(true);
  });

  it('marks the questions that have no answer yet', async () => {
    const { user } = await questions();
    const marks = () => screen.getAllByText('Not answered').map((mark) => mark.classList.contains('answered'));
    expect([marks(), screen.getByText(/of 2 answered/).textContent]).toEqual([[false, false], '0 of 2 answered']);
    await user.click(screen.getByRole('radio', { name: /Leave/ }));
    expect([marks(), screen.getByText(/of 2 answered/).textContent]).toEqual([[true, false], '1 of 2 answered']);
  });

  it('can be skipped', async () => {
    const { decisions, user } = await questions();
    await user.click(button('Skip'));
    expect(decisions).toEqual([{ type: 'deny', message: 'The user skipped the question.', interrupt: false }]);
  });
});

describe('a plan', () => {
  async function plan(change: Partial<PermissionRequest> = {}) {
    const { decisions, ondecide } = deciding();
    const request = { ...planRequest('q1'), ...change };
    if (request.kind.type !== 'plan') throw new Error('not a plan');
    const drawn = await draw(PlanCard, { request, blocks: request.kind.blocks, ondecide });
    await tick();
    drawn.clock.advance(ARM_MS);
    await tick();
    return { decisions, clock: drawn.clock, user: userEvent.setup() };
  }

  it('is approved, with edits asked for or accepted', async () => {
    const first = await plan();
    await first.user.click(button('Approve, ask before edits'));
    expect(first.decisions).toEqual([{ type: 'approvePlan', acceptEdits: false }]);
    cleanup();
    const second = await plan();
    await second.user.click(button('Approve, accept edits'));
    expect(second.decisions).toEqual([{ type: 'approvePlan', acceptEdits: true }]);
  });

  it('is sent back with words, or without', async () => {
    const first = await plan();
    await first.user.click(button('Keep planning'));
    expect(first.decisions).toEqual([{ type: 'deny', message: 'Keep planning; do not start yet.', interrupt: false }]);
    cleanup();
    const second = await plan();
    await second.user.type(screen.getByRole('textbox'), 'Smaller steps');
    await second.user.click(button('Keep planning with these changes'));
    expect(second.decisions).toEqual([{ type: 'deny', message: 'Smaller steps', interrupt: false }]);
  });

  it('is sent back with comments under the lines that they are about', async () => {
    const { decisions, user } = await plan();
    await user.click(screen.getByRole('button', { name: /Comment on: 2\. Add the nine cases/ }));
    await user.type(screen.getByRole('textbox', { name: /Your comment on: 2\./ }), 'Which cases?');
    await user.click(screen.getByRole('button', { name: /Comment on: Stored totals/ }));
    await user.type(screen.getByRole('textbox', { name: /Your comment on: Stored/ }), 'Really?');
    await user.type(screen.getByRole('textbox', { name: /in the plan/ }), 'Smaller steps');
    await user.click(button('Keep planning with these changes'));
    const message = [
      'Smaller steps',
      '> 2. Add the nine cases of the report to `tests/totals.rs`.',
      'Which cases?',
      '> Stored totals stay as they are.',
      'Really?',
    ].join('\n\n');
    expect(decisions).toEqual([{ type: 'deny', message, interrupt: false }]);
  });

  it('is commented on line by line, by the keyboard alone', async () => {
    const source = 'Run this:\n\n```sh\ncargo test\n\ncargo fmt\n```';
    const { decisions, user } = await plan({ kind: { type: 'plan', blocks: markdown(source) } });
    const comments = screen.getAllByRole('button', { name: /^Comment on/ });
    expect(comments.map((comment) => comment.getAttribute('aria-label'))).toEqual([
      'Comment on: Run this:',
      'Comment on: cargo test',
      'Comment on: cargo fmt',
    ]);
    screen.getByRole('group', { name: 'The plan' }).focus();
    await user.keyboard('{Tab}{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(document.activeElement).toBe(comments[1]);
    await user.keyboard('{Enter}Only the crate');
    await user.keyboard('{Escape}');
    await user.click(comments[2] as HTMLElement);
    await user.keyboard('Why?');
    await user.click(button('Keep planning with these changes'));
    expect(decisions).toEqual([{ type: 'deny', message: '> cargo fmt\n\nWhy?', interrupt: false }]);
  });

  it('is not approved over what was written', async () => {
    const { decisions, clock, user } = await plan();
    await user.click(screen.getByRole('button', { name: /Comment on: 2\./ }));
    const comment = screen.getByRole('textbox', { name: /Your comment on: 2\./ });
    await user.type(comment, 'Which cases?');
    clock.advance(ARM_MS);
    await tick();
    await user.click(button('Approve, ask before edits'));
    await user.click(button('Approve, accept edits'));
    expect(decisions).toEqual([]);
    await user.type(comment, '{Escape}');
    await tick();
    await user.click(button('Approve, ask before edits'));
    expect(decisions, 'the button moved, and waits anew').toEqual([]);
    clock.advance(ARM_MS);
    await tick();
    await user.click(button('Approve, ask before edits'));
    expect(decisions).toEqual([{ type: 'approvePlan', acceptEdits: false }]);
  });
});

describe('several requests', () => {
  const two = [commandRequest('q1', 'git status'), commandRequest('q2', 'git push')];

  it('have a card each', async () => {
    await draw(RequestStack, { requests: two });
    expect(screen.getAllByRole('group', { name: 'Permission request' })).toHaveLength(2);
  });

  it('wait anew when one of them goes away', async () => {
    const { clock, redraw } = await draw(RequestStack, { requests: two });
    await tick();
    clock.advance(ARM_MS);
    await tick();
    const states = () =>
      screen.getAllByRole('button', { name: 'Allow once' }).map((allow) => allow.getAttribute('aria-disabled'));
    expect(states()).toEqual(['false', 'false']);
    await redraw({ requests: two.slice(1) });
    await tick();
    expect(states()).toEqual(['true']);
  });

  /** A form above a command, before the content of forms is loaded. */
  async function formFirst() {
    const script = { arrive: () => {}, fail: () => {} };
    const late = new Later(
      () =>
        new Promise<{ default: typeof FormContent }>((resolve, reject) => {
          script.arrive = () => resolve({ default: FormContent });
          script.fail = () => reject(new Error('the file is gone'));
        }),
    );
    vi.spyOn(FORM, 'component', 'get').mockImplementation(() => late.component);
    vi.spyOn(FORM, 'isAwaited', 'get').mockImplementation(() => late.isAwaited);
    onTestFinished(() => void vi.restoreAllMocks());
    const drawn = await draw(RequestStack, { requests: [formRequest('f'), commandRequest('q', 'git push')] });
    const allow = () => button('Allow once').getAttribute('aria-disabled');
    await tick();
    drawn.clock.advance(ARM_MS);
    await tick();
    expect(allow()).toBe('false');
    return { ...drawn, script, allow };
  }
  const form = () => screen.getByRole('group', { name: 'Form' });

  it('wait anew when a form above them is loaded, whose card keeps the focus', async () => {
    const { script, allow } = await formFirst();
    form().focus();
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    script.arrive();
    await expect.poll(() => screen.queryByRole('button', { name: 'Send' })).not.toBeNull();
    expect(allow()).toBe('true');
    expect(document.activeElement).toBe(form());
  });

  it('wait anew when a form above them cannot be loaded, which can be tried again', async () => {
    const { script, allow, host } = await formFirst();
    script.fail();
    const again = await screen.findByRole('button', { name: 'Try again' });
    expect(allow()).toBe('true');
    expect(host.pageErrors.map(([place]) => place)).toEqual(['A request']);
    expect(screen.getByText(/This request could not be displayed properly/u)).toBeTruthy();
    await userEvent.setup().click(again);
    expect(document.activeElement).toBe(form());
    script.arrive();
    await expect.poll(() => screen.queryByRole('button', { name: 'Send' })).not.toBeNull();
    expect(document.activeElement).toBe(form());
  });

  it('say when an answer came too late, and keep the focus on its button', async () => {
    const { project } = await draw(RequestStack, { requests: two });
    const deny = screen.getAllByRole('button', { name: 'Deny' })[0] as HTMLElement;
    await userEvent.setup().click(deny);
    await expect.poll(() => project.problems.list).toHaveLength(1);
    expect(project.problems.list[0]).toMatchObject({
      what: 'Your answer was not sent',
      error: { code: 'noSuchRequest' },
    });
    expect(document.activeElement).toBe(deny);
  });
});

describe('an agent that takes only its own answers', () => {
  async function asked(can: Partial<AgentCapabilities>) {
    const { project } = await draw(RequestStack, { requests: [commandRequest('q1', 'git push')] });
    const sent: Command[] = [];
    project.pane.state = { session: session({ capabilities: { ...CAPABILITIES, ...can } }) } as never;
    project.pane.command = (command) => {
      sent.push(command);
      return Promise.resolve(null);
    };
    await tick();
    return { sent, user: userEvent.setup() };
  }

  it('is not offered an edited input', async () => {
    await asked({ editedInput: false });
    expect(screen.queryByRole('button', { name: 'Edit' })).toBeNull();
  });

  it('gets the reason of a denial as the next prompt, which the card says', async () => {
    const { sent, user } = await asked({ denialReasons: false });
    await user.click(button('Deny with reason…'));
    await user.type(screen.getByLabelText('Reason (sent as your next prompt, after this turn)'), 'Not to main{Enter}');
    await tick();
    expect(sent).toMatchObject([
      { type: 'decide', decision: { type: 'deny', message: '', interrupt: false } },
      { type: 'prompt', text: 'Not to main', delivery: 'afterTurn' },
    ]);
  });

  it('gets no prompt without a reason', async () => {
    const { sent, user } = await asked({ denialReasons: false });
    await user.click(button('Deny'));
    await tick();
    expect(sent.map(({ type }) => type)).toEqual(['decide']);
  });

  it('reads the reason with the denial, if it can', async () => {
    const { sent, user } = await asked({});
    await user.click(button('Deny with reason…'));
    await user.type(screen.getByLabelText('Reason (sent to the agent)'), 'Not to main{Enter}');
    await tick();
    expect(sent).toMatchObject([{ type: 'decide', decision: { type: 'deny', message: 'Not to main' } }]);
    screen.getByRole('button', { name: 'Edit' });
  });
});
