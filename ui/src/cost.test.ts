// Cost of an agent's input in the window: four times as much input must take about four times as long, in every class.
// The engine's table is `src-tauri/engine/src/fuzzed/cost.rs`; what only a browser can measure is in `shots/cost.js`.

import { describe, expect, it } from 'vitest';

import { measure } from './test/cost/class';
import { documents } from './test/cost/documents';
import { state } from './test/cost/state';
import { texts } from './test/cost/texts';

describe.each(Object.entries({ texts, documents, state }))('the cost of %s', (_group, classes) => {
  it.each(classes)('is linear for %s', (_name, prepare) => {
    const { isLinear, times } = measure(prepare);
    expect(isLinear, `n and 4n take ${times}`).toBe(true);
  });
});
