import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { Decision, FieldKind, FormField, PermissionRequest } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { dialogRequest, formOf, formRequest, pageRequest } from '../../../fake/script';
import FormCard from './FormCard.svelte';
import { FieldValue, valuesByName } from './filling.svelte';

const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name });

async function card(request: PermissionRequest) {
  const decisions: Decision[] = [];
  const ondecide = (decision: Decision) => {
    decisions.push(decision);
    return Promise.resolve(true);
  };
  const { host } = await draw(FormCard, { request, form: formOf(request), ondecide });
  return { decisions, host, user: userEvent.setup() };
}

describe('a form', () => {
  it('sends what was entered, of the right types, and leaves out what was not', async () => {
    const { decisions, user } = await card(formRequest('f'));
    expect(button('Send').disabled).toBe(true);
    await user.click(screen.getByRole('radio', { name: /^To even/ }));
    await user.type(screen.getByRole('textbox', { name: 'Copies of the report' }), '3');
    await user.click(screen.getByRole('checkbox', { name: 'Cash' }));
    await user.click(button('Send'));
    const values = { month: '2026-04', rounding: 'even', copies: 3, reports: ['totals', 'cash'] };
    expect(decisions).toEqual([{ type: 'fill', values }]);
  });

  it('is a choice in a dialog of the agent', async () => {
    const { decisions, user } = await card(dialogRequest('d'));
    expect(screen.queryByText(/What you enter goes to/u)).toBeNull();
    expect(button('Send').disabled).toBe(true);
    await user.click(screen.getByRole('radio', { name: /^Continue with claude-opus-5/u }));
    await user.click(button('Send'));
    expect(decisions).toEqual([{ type: 'fill', values: { choice: 'retry_fallback' } }]);
  });

  it('says what does not fit, and is not sent with it', async () => {
    const { user } = await card(formRequest('f'));
    await user.click(screen.getByRole('radio', { name: 'Up' }));
    expect(button('Send').disabled).toBe(false);
    const copies = screen.getByRole('textbox', { name: 'Copies of the report' });
    for (const [typed, problem] of [
      ['x', 'Enter a number.'],
      ['1.5', 'Enter a whole number.'],
      ['0', 'Enter 1 or more.'],
      ['10', 'Enter 9 or less.'],
    ] as const) {
      await user.clear(copies);
      await user.type(copies, typed);
      expect(screen.getByText(problem)).toBeTruthy();
      expect(button('Send').disabled, typed).toBe(true);
    }
    await user.clear(copies);
    expect(button('Send').disabled).toBe(false);
    await user.click(screen.getByRole('checkbox', { name: 'Taxes' }));
    await user.click(screen.getByRole('checkbox', { name: 'Cash' }));
    expect(screen.getByText('Choose at most 2.')).toBeTruthy();
    expect(button('Send').disabled).toBe(true);
  });

  it('lets an optional choice be taken back', async () => {
    const { decisions, user } = await card(formRequest('f'));
    await user.click(screen.getByRole('radio', { name: 'Up' }));
    await user.click(screen.getByRole('radio', { name: 'Yes' }));
    await user.click(screen.getByRole('radio', { name: 'No answer' }));
    await user.click(button('Send'));
    expect(decisions[0]).toMatchObject({ type: 'fill' });
    expect(JSON.stringify(decisions[0])).not.toContain('mail');
  });

  it('is declined', async () => {
    const { decisions, user } = await card(formRequest('f'));
    await user.click(button('Decline'));
    expect(decisions).toEqual([{ type: 'deny', message: 'The user declined.', interrupt: false }]);
  });
});

describe('a page', () => {
  it('is opened, and only then agreed to', async () => {
    const { decisions, host, user } = await card(pageRequest('p'));
    const opened: string[] = [];
    let works = false;
    host.openLink = (url) => {
      opened.push(url);
      return works ? Promise.resolve() : Promise.reject(new Error('no browser'));
    };
    await user.click(button('Open page'));
    expect(decisions).toEqual([]);
    works = true;
    await user.click(button('Open page'));
    expect(opened).toEqual(Array(2).fill('https://ledger.example/consent?for=deskbell'));
    expect(decisions).toEqual([{ type: 'fill', values: {} }]);
  });
});

describe('a value', () => {
  const value = (kind: FieldKind, isRequired = true) => {
    const field: FormField = { name: 'a', label: 'A', description: null, isRequired, kind };
    return new FieldValue(field);
  };
  const choices = ['x', 'y', 'y'].map((choice, i) => ({ value: choice, label: `${i}`, description: null }));

  it('begins with the default, if that is a choice', () => {
    expect(value({ type: 'one', choices, default: 'y' }).chosen).toEqual([1]);
    expect(value({ type: 'one', choices, default: 'z' }).value).toBeUndefined();
    expect(value({ type: 'switch', default: false }).value).toBe(false);
    expect(value({ type: 'many', choices, default: ['y', 'z'], minimum: 1, maximum: null }).value).toEqual(['y']);
    expect(value({ type: 'number', isWhole: false, default: 0.5, minimum: null, maximum: null }).value).toBe(0.5);
  });

  it('of a required field has to be given, and of an unknown kind cannot be', () => {
    const text = { type: 'text', default: null, format: null, minLength: null, maxLength: null } as const;
    expect(value(text).fits).toBe(false);
    expect(value(text, false).fits).toBe(true);
    expect(value({ type: 'unknown', schema: '{}' }).fits).toBe(false);
    expect(valuesByName([value(text, false)])).toEqual({});
  });

  it('counts characters as the schema does', () => {
    const text = value({ type: 'text', default: '😀😀', format: null, minLength: null, maxLength: 2 });
    expect(text.fits).toBe(true);
    text.text = '😀😀😀';
    expect(text.problem).toBe('Enter at most 2 characters.');
  });
});
