// Browser features that the test environment lacks: media queries, observers, modal dialogs.

import { configure } from '@testing-library/svelte';
import { vi } from 'vitest';

// Visibility is left to tests in a browser: computing it in jsdom for every element takes most of a test's time.
configure({ defaultHidden: true });

window.matchMedia = (query) =>
  ({
    media: query,
    matches: false,
    addEventListener: () => {},
    removeEventListener: () => {},
  }) as unknown as MediaQueryList;

window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

HTMLDialogElement.prototype.showModal = function () {
  this.open = true;
};
HTMLDialogElement.prototype.close = function () {
  this.open = false;
  this.dispatchEvent(new Event('close'));
};

Element.prototype.scrollIntoView = () => {};
Element.prototype.setPointerCapture = () => {};

Object.defineProperty(navigator, 'clipboard', {
  value: { writeText: vi.fn(() => Promise.resolve()) },
  configurable: true,
});
