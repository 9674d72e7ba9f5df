// The focus after a reset, whose button is gone.

import { tick } from 'svelte';

import { BY_KEY } from './focus';

/** Moves the focus from a removed button to the control of the same row. */
export async function focusControl(row: HTMLElement | undefined): Promise<void> {
  await tick();
  const controls = row?.querySelectorAll<HTMLElement>('input, select, textarea, button') ?? [];
  const isChosen = (control: HTMLElement) => !(control instanceof HTMLInputElement && control.type === 'radio');
  const found = [...controls].find((one) => isChosen(one) || (one as HTMLInputElement).checked);
  const { activeElement } = document;
  const isNowhere = activeElement === null || activeElement === document.body;
  if (isNowhere || activeElement instanceof HTMLDialogElement) found?.focus(BY_KEY);
}
