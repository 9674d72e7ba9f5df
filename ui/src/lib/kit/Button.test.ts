import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet } from 'svelte';
import { expect, it, vi } from 'vitest';

import Button from './Button.svelte';

const children = createRawSnippet(() => ({ render: () => '<span>Check again</span>' }));
const button = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Check again' });
const aria = (name: string) => button().getAttribute(`aria-${name}`);

it('keeps the focus while its work is under way, and does nothing then', async () => {
  const [user, onclick] = [userEvent.setup(), vi.fn()];
  const { rerender } = render(Button, { busy: false, onclick, children });
  await user.click(button());
  expect(onclick).toHaveBeenCalledTimes(1);
  await rerender({ busy: true });
  expect(document.activeElement).toBe(button());
  await user.click(button());
  await user.keyboard('{Enter} ');
  button().click();
  expect(onclick).toHaveBeenCalledTimes(1);
  expect(document.activeElement).toBe(button());
  await rerender({ busy: false });
  await user.keyboard('{Enter}');
  expect(onclick).toHaveBeenCalledTimes(2);
});

it('is unavailable to screen readers while its work is under way', async () => {
  const { rerender } = render(Button, { busy: true, children });
  expect([aria('disabled'), aria('busy'), button().disabled]).toEqual(['true', 'true', false]);
  await rerender({ busy: false });
  expect([aria('disabled'), aria('busy')]).toEqual([null, null]);
  // What its owner says of it counts again.
  await rerender({ 'aria-disabled': true });
  expect([aria('disabled'), aria('busy')]).toEqual(['true', null]);
});

it('submits no form while its work is under way, also by Enter in a field', async () => {
  const [user, onsubmit] = [userEvent.setup(), vi.fn((event: SubmitEvent) => event.preventDefault())];
  const form = document.body.appendChild(document.createElement('form'));
  const field = form.appendChild(document.createElement('input'));
  form.addEventListener('submit', onsubmit);
  const { rerender } = render(Button, { target: form, props: { type: 'submit', busy: true, children } });
  await user.click(button());
  await user.type(field, '{Enter}');
  await fireEvent.click(button());
  expect(onsubmit).not.toHaveBeenCalled();
  await rerender({ busy: false });
  await user.type(field, '{Enter}');
  expect(onsubmit).toHaveBeenCalledTimes(1);
  form.remove();
});
