// The values of a form while the user fills it in.

import type { Form, FormChoice, FormField, JsonValue } from '../../bindings/api';
import { plural } from '../../kit/amounts';

/** The answers to a field that is a switch, as choices. */
const YES_OR_NO: readonly FormChoice[] = [
  { value: 'yes', label: 'Yes', description: null },
  { value: 'no', label: 'No', description: null },
];

/** The value of one field: a text that is typed, or choices. */
export class FieldValue {
  readonly field: FormField;
  text = $state('');
  /** The indexes of the chosen choices: two can have the same label. */
  chosen = $state.raw<readonly number[]>([]);

  constructor(field: FormField) {
    this.field = field;
    const { kind } = field;
    if (kind.type === 'text') this.text = kind.default ?? '';
    else if (kind.type === 'number') this.text = kind.default === null ? '' : String(kind.default);
    else if (kind.type === 'switch') this.chosen = kind.default === null ? [] : [kind.default ? 0 : 1];
    else if (kind.type === 'one') this.chosen = this.#placesOf(kind.default === null ? [] : [kind.default]).slice(0, 1);
    else if (kind.type === 'many') this.chosen = this.#placesOf(kind.default);
  }

  get choices(): readonly FormChoice[] {
    const { kind } = this.field;
    if (kind.type === 'switch') return YES_OR_NO;
    return kind.type === 'one' || kind.type === 'many' ? kind.choices : [];
  }

  get takesMany(): boolean {
    return this.field.kind.type === 'many';
  }

  toggle(choice: number, on: boolean): void {
    if (!this.takesMany) {
      this.chosen = on ? [choice] : [];
      return;
    }
    const others = this.chosen.filter((other) => other !== choice);
    this.chosen = on ? [...others, choice].toSorted((a, b) => a - b) : others;
  }

  /** Removes the choice of a field that can be left out. */
  clear(): void {
    this.chosen = [];
  }

  /** The value as the agent reads it; `undefined` if the field is left out. */
  get value(): JsonValue | undefined {
    const { kind } = this.field;
    const values = this.chosen.map((choice) => this.choices[choice]?.value ?? '');
    switch (kind.type) {
      case 'text':
        return this.text === '' ? undefined : this.text;
      case 'number':
        return this.text.trim() === '' ? undefined : Number(this.text);
      case 'switch':
        return values.length === 0 ? undefined : values[0] === 'yes';
      case 'one':
        return values[0];
      case 'many':
        return values.length === 0 && !this.field.isRequired ? undefined : values;
      case 'unknown':
        return undefined;
    }
  }

  /** Whether the form can be sent with this field as it is. */
  get fits(): boolean {
    return this.problem === null && (this.value !== undefined || !this.field.isRequired);
  }

  /** What is wrong with the value, as a sentence. `null` if it fits, or if there is none yet. */
  get problem(): string | null {
    const { value } = this;
    const { kind } = this.field;
    if (kind.type === 'text' && typeof value === 'string') return lengthProblem(value, kind.minLength, kind.maxLength);
    if (kind.type === 'number' && typeof value === 'number') return numberProblem(value, kind);
    if (kind.type === 'many' && Array.isArray(value)) return countProblem(value.length, kind.minimum, kind.maximum);
    return null;
  }

  #placesOf(values: readonly string[]): readonly number[] {
    const places = values.map((value) => this.choices.findIndex((choice) => choice.value === value));
    return places.filter((place) => place >= 0);
  }
}

function lengthProblem(text: string, min: number | null, max: number | null): string | null {
  // As the schema counts: code points.
  const { length } = [...text];
  if (min !== null && length < min) return `Enter at least ${plural(min, 'character')}.`;
  if (max !== null && length > max) return `Enter at most ${plural(max, 'character')}.`;
  return null;
}

function numberProblem(
  value: number,
  { isWhole, minimum, maximum }: { isWhole: boolean; minimum: number | null; maximum: number | null },
): string | null {
  if (!Number.isFinite(value)) return 'Enter a number.';
  if (isWhole && !Number.isSafeInteger(value)) return 'Enter a whole number.';
  if (minimum !== null && value < minimum) return `Enter ${minimum} or more.`;
  if (maximum !== null && value > maximum) return `Enter ${maximum} or less.`;
  return null;
}

function countProblem(n: number, min: number | null, max: number | null): string | null {
  if (min !== null && n < min) return `Choose at least ${min}.`;
  if (max !== null && n > max) return `Choose at most ${max}.`;
  return null;
}

/** The values of a form by the names of its fields, without those that are left out. */
export function valuesByName(values: readonly FieldValue[]): Record<string, JsonValue> {
  return Object.fromEntries(
    values.flatMap(({ field, value }) => (value === undefined ? [] : [[field.name, value] as const])),
  );
}

/** Who gets the values, in words. */
export const receiver = (form: Form): string =>
  form.server === null ? 'the agent' : `${form.server}, a server of the agent`;
