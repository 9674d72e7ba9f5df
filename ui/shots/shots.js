// Takes a picture of every view of the built interface on the fake host, and has axe look at each.
//
// `node shots/shots.js [FOLDER] [VIEW…]`: the pictures go to FOLDER, else to target/shots. It fails if axe finds a violation of
// WCAG 2.0, 2.1 or 2.2, A or AA, if something sticks out of the window, or if the page logs an error.

import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { createServer, preview } from 'vite';

import { extraViews } from './views.js';

const UI = resolve(import.meta.dirname, '..');
const SIZES = [
  { name: 'wide', width: 1180, height: 800 },
  { name: 'small', width: 560, height: 480 },
];
const THEMES = ['light', 'dark'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const [folder = join(UI, '../target/shots'), ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const views = await allViews();
const chosen = only.length === 0 ? views : views.filter((view) => only.includes(view.name));
const server = await preview({
  root: UI,
  logLevel: 'warn',
  // The policy that the app has; in a browser it is stricter than in WebKitGTK.
  preview: { port: 0, strictPort: false, headers: { 'content-security-policy': policy() } },
});
const address = server.resolvedUrls?.local[0];
if (address === undefined) throw new Error('the preview server has no address');
const browser = await launch();
const problems = [];
let taken = 0;
for (const theme of THEMES) {
  for (const size of SIZES) {
    for (const view of chosen) if (view.themes?.includes(theme) ?? true) await shoot(view, size, theme);
  }
}
await browser.close();
await server.close();

console.log(`${taken} pictures of ${chosen.length} views in ${resolve(folder)}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

async function shoot(view, { name, width, height }, theme) {
  const zoom = view.zoom ?? 1;
  const context = await browser.newContext({
    colorScheme: theme,
    reducedMotion: 'reduce',
    // Zooming leaves the window as it is: fewer, larger pixels, or more and smaller ones.
    viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
    deviceScaleFactor: zoom,
  });
  const page = await context.newPage();
  const where = `${view.name}-${name}-${theme}`;
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${where}: the page logged: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`${where}: the page failed: ${error.message}`));
  try {
    await page.goto(`${address}?scene=${view.scene}`);
    await page.locator('main').first().waitFor();
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    await view.prepare?.(page);
    await settled(page);
    await page.screenshot({ path: join(folder, `${where}.png`) });
    taken += 1;
    for (const found of await violations(page)) problems.push(`${where}: ${found}`);
    for (const found of await overflows(page)) problems.push(`${where}: ${found}`);
  } catch (error) {
    problems.push(`${where}: ${error instanceof Error ? error.message : error}`);
  }
  await context.close();
}

/** Waits until two frames in a row look the same. */
async function settled(page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))),
  );
}

async function violations(page) {
  // Evaluated by the driver, so that the page's policy stays as it is.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate((rules) => globalThis.axe.run({ runOnly: rules }), RULES);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}) at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}

/** Nothing but what scrolls by itself may be wider than the window. */
function overflows(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const found = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide, the window ${clientWidth}`] : [];
    for (const button of document.querySelectorAll('button')) {
      const { right, left, width } = button.getBoundingClientRect();
      const clipped = button.closest('[role=log], [role=listbox], .sr, nav') !== null;
      if (width > 0 && !clipped && (right > innerWidth + 1 || left < -1)) {
        found.push(`the button “${button.textContent.trim() || button.ariaLabel}” sticks out`);
      }
    }
    return found;
  });
}

async function allViews() {
  const vite = await createServer({
    root: UI,
    logLevel: 'warn',
    server: { middlewareMode: true, ws: false },
    appType: 'custom',
  });
  const { sceneNames } = await vite.ssrLoadModule('/src/lib/host/fake/scenes.ts');
  await vite.close();
  return [...sceneNames.map((scene) => ({ name: scene, scene })), ...extraViews];
}

function policy() {
  const conf = JSON.parse(readFileSync(join(UI, '../tauri.conf.json'), 'utf8'));
  return conf.app.security.csp;
}

async function launch() {
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
