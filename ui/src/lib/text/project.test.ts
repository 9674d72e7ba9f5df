import { expect, it } from 'vitest';

import { shownProject } from './project';

it('names the machine of a folder that is on another one', () => {
  expect(shownProject('/home/ines/ledger')).toBe('/home/ines/ledger');
  expect(shownProject({ machine: 'docker:web', folder: '/app' })).toBe('docker:web:/app');
});
