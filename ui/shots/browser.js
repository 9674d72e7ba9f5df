// The browser that looks at the interface, and the server of its pages.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { chromium } from 'playwright-core';
import { build, preview } from 'vite';

export const UI = resolve(import.meta.dirname, '..');
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Builds these pages into a folder of `target`, as in the app but with the scripted host, and serves them. */
export async function serve(folder, pages) {
  const outDir = join(UI, '../target', folder);
  const input = Object.fromEntries(pages.map((page) => [page, join(UI, `${page}.html`)]));
  // Not `production`: that is the build of the app.
  const common = { root: UI, logLevel: 'warn', mode: 'browser' };
  await build({ ...common, build: { outDir, emptyOutDir: true, rolldownOptions: { input } } });
  return preview({
    ...common,
    build: { outDir },
    // The app's content security policy; a browser applies it more strictly than WebKitGTK.
    preview: { port: 0, strictPort: false, headers: { 'content-security-policy': policy() } },
  });
}

function policy() {
  const conf = JSON.parse(readFileSync(join(UI, '../tauri.conf.json'), 'utf8'));
  return conf.app.security.csp;
}

export async function launch() {
  const named = process.env['DESKBELL_TEST_CHROMIUM'];
  const failures = [];
  for (const executablePath of named ? [named] : BROWSERS) {
    try {
      return await chromium.launch({ executablePath, args: ['--no-sandbox', '--force-color-profile=srgb'] });
    } catch (error) {
      failures.push(error instanceof Error ? error.message.split('\n')[0] : String(error));
    }
  }
  throw new Error(`no Chromium: ${failures.join('; ')}`);
}
