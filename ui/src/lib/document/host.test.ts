import { describe, expect, it } from 'vitest';

import { mustShowHost } from './host';

describe('the host of a link', () => {
  it.each([
    ['github.com', 'evil.example'],
    ['https://github.com/login', 'evil.example:8080'],
    ['log in at github.com.', 'evil.example'],
    ['github', 'xn--gthub-n2e.com'],
    ['gіthub.com', 'xn--gthub-n2e.com'],
    ['main.rs', 'github.com'],
    ['example.com', 'example.com.evil.example'],
  ])('stands beside “%s” that leads to %s', (text, host) => expect(mustShowHost(text, host)).toBe(true));

  it.each([
    ['the documentation', 'doc.rust-lang.org'],
    ['https://example.com/a', 'example.com'],
    ['Example.com', 'example.com'],
    ['example.com', 'www.example.com'],
    ['version 1.2.3', 'crates.io'],
    ['', 'example.com'],
    ['x.y', ''],
  ])('does not stand beside “%s” that leads to %s', (text, host) => expect(mustShowHost(text, host)).toBe(false));
});
