// Takes screenshots of every view of the interface and every story page, and checks each with axe.
//
// `node shots/shots.js [--part] [FOLDER] [VIEW…]` writes the screenshots to FOLDER, by default to target/shots. It fails
// if axe finds a violation of WCAG 2.0, 2.1 or 2.2, A or AA, if an element overflows the window, or if the page logs an
// error. With `--part` a view that has both sizes and both themes is shown wide in one theme and small in the other, by
// turns; DESKBELL_TEST_WHOLE=1 overrides that.

import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

import { createServer } from 'vite';

import { launch, serve, UI } from './browser.js';
import { problemsOf } from './look.js';
import { extraViews, opening, scenes, stories } from './views.js';

const SIZES = [
  { name: 'wide', width: 1180, height: 800 },
  { name: 'small', width: 560, height: 480 },
];
const THEMES = ['light', 'dark'];

const given = process.argv.slice(2);
const isPart = given[0] === '--part' && process.env['DESKBELL_TEST_WHOLE'] !== '1';
const [folder = join(UI, '../target/shots'), ...only] = given[0] === '--part' ? given.slice(1) : given;
mkdirSync(folder, { recursive: true });

const views = await allViews();
const chosen = only.length === 0 ? views : views.filter((view) => only.includes(view.name));
const server = await serve('shots-pages', ['index', 'stories']);
const browser = await launch();
const problems = [];
let taken = 0;
// A page keeps one core busy, so there are as many workers as cores, but at least two.
const looks = chosen.flatMap((view, nr) => {
  const sizes = SIZES.filter(({ name }) => view.sizes?.includes(name) ?? true);
  return sizes.map((size, i) => ({ view, size, themes: themesOf(view, sizes.length > 1 ? nr + i : null) }));
});
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, () => shootAll()));
await browser.close();
await server.close();

console.log(`${taken} pictures of ${chosen.length} views in ${resolve(folder)}`);
for (const problem of problems.sort()) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** The themes of a view in one size; in its `turn` only one of both. */
function themesOf(view, turn) {
  const themes = view.themes ?? THEMES;
  return isPart && turn !== null && themes.length > 1 ? [themes[turn % themes.length]] : themes;
}

async function shootAll() {
  const tabs = new Map();
  for (let next = looks.shift(); next !== undefined; next = looks.shift()) await shoot(next, tabs);
}

/** Takes the screenshots of one page in each theme. */
async function shoot({ view, size, themes }, tabs) {
  const zoom = view.zoom ?? 1;
  const key = `${size.name} ${zoom}`;
  const tab = tabs.get(key) ?? (await opened(size, zoom));
  tabs.set(key, tab);
  const { page } = tab;
  tab.where = `${view.name}-${size.name}`;
  try {
    // What lies under the pointer looks different.
    await page.mouse.move(0, 0);
    await page.emulateMedia({ colorScheme: themes[0] });
    if (view.scripts === false) {
      await page.route(/\.js$/, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
    }
    await page.goto(new URL(view.address, server.resolvedUrls.local[0]).href);
    await page.locator(view.ready).first().waitFor({ state: 'attached' });
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    await view.prepare?.(page);
    for (const [i, theme] of themes.entries()) {
      tab.where = `${view.name}-${size.name}-${theme}`;
      await page.emulateMedia({ colorScheme: theme });
      await settled(page);
      await page.screenshot({ path: join(folder, `${tab.where}.png`), fullPage: true });
      taken += 1;
      for (const found of await problemsOf(page, { coloursOnly: i > 0 })) problems.push(`${tab.where}: ${found}`);
    }
    await page.unrouteAll();
  } catch (error) {
    problems.push(`${tab.where}: ${error instanceof Error ? error.message : error}`);
    tabs.delete(key);
    await page.context().close();
  }
}

/**
 * Opens a tab for views of this size: a new one for each view would take half of the time. Its pages find nothing that
 * an earlier one has kept.
 */
async function opened({ width, height }, zoom) {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    // Zooming keeps the window's size: fewer but larger pixels, or more but smaller ones.
    viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
    deviceScaleFactor: zoom,
  });
  await context.addInitScript(() => localStorage.clear());
  const page = await context.newPage();
  const tab = { page, where: '' };
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${tab.where}: the page logged: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`${tab.where}: the page failed: ${error.message}`));
  return tab;
}

/** Waits until a change has been drawn. */
async function settled(page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))),
  );
}

async function allViews() {
  const vite = await createServer({
    root: UI,
    logLevel: 'warn',
    server: { middlewareMode: true, ws: false },
    appType: 'custom',
  });
  const { sceneNames } = await vite.ssrLoadModule('/src/fake/scenes.ts');
  const { pageNames } = await vite.ssrLoadModule('/src/stories/names.ts');
  await vite.close();
  return [...scenes(sceneNames), opening, ...extraViews, ...stories(pageNames)];
}
