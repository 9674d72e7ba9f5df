import { expect, it } from 'vitest';

import { families } from './appearance.svelte';

it('quotes the names of fonts, and keeps the usual ones after them', () => {
  expect(families('Fira Code, monospace,, ', 'ui-monospace')).toBe('"Fira Code", monospace, ui-monospace');
  expect(families('a"; color: red', 'serif')).toBe('"a\\"; color: red", serif');
});
