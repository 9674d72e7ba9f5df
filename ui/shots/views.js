// The views: all scenes, states that scenes alone do not show (opened by key or click, other zoom levels, longer
// words), and the story pages. `themes` limits a view to some themes if another view shows the same colours.

const box = (page) => page.getByRole('textbox', { name: 'Prompt' });

async function type(page, text) {
  await box(page).click();
  await page.keyboard.type(text);
}

/** Expands every collapsed row of the conversation. */
async function unfold(page) {
  const closed = page.locator('[role=log] [aria-expanded=false]');
  for (let n = await closed.count(); n > 0; n = await closed.count()) await closed.first().click();
  await page.locator('[role=log]').evaluate((log) => (log.scrollTop = 0));
}

/** Scrolls up with the wheel, away from the end. */
async function scrollUp(page) {
  await page.locator('[role=log] [data-item]').last().hover();
  await page.mouse.wheel(0, -900);
  await page.locator('.to-end').waitFor();
}

/** Makes every word of the interface 40 percent longer, as in another language; also in names of buttons. */
async function lengthen(page) {
  await page.evaluate(() => {
    const notOurs = '[role=log], pre, code, textarea, script';
    const longer = (text) =>
      text.replace(/\p{L}{3,}/gu, (word) => word + word.slice(0, Math.ceil(word.length * 0.4)).toLowerCase());
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) if (!text.parentElement?.closest(notOurs)) text.data = longer(text.data);
    for (const button of document.querySelectorAll('button[aria-label], summary[aria-label]')) {
      // A name that repeats a path or a command stays as that is.
      if (!button.closest(notOurs) && button.querySelector('code') === null)
        button.ariaLabel = longer(button.ariaLabel);
    }
  });
}

const sessions = (page) => page.getByRole('navigation', { name: 'Sessions' });

/** Goes to the last of the listed sessions by key. */
async function lastSession(page) {
  await sessions(page).getByRole('listitem').first().getByRole('button').first().focus();
  await page.keyboard.press('End');
  await sessions(page).getByText('Trace the slow query, part 2499').waitFor();
}

async function filterSessions(page) {
  await page.getByRole('searchbox').first().fill('exporter 2400');
  await sessions(page).getByText('Remove the old exporter, part 2400').waitFor();
}

/** Shows another session beside the open one. In a small window, a line names it. */
async function sideBySide(page) {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('Show side by side: Explain');
  await page.keyboard.press('Enter');
  await page.getByText('Explain the import pipeline').last().waitFor();
}

const press = (page, name) => page.getByRole('button', { name, exact: true }).first().click();

async function always(page) {
  await press(page, 'Always allow…');
  await page.getByRole('radio').first().check();
}

async function answer(page) {
  // By key: the choices are scrolled into view one after the other, and a click could meet the one beside it.
  await page.getByRole('radio').first().press(' ');
  await page.getByRole('checkbox').nth(1).press(' ');
  await page.getByRole('textbox', { name: /Where should the cases/ }).fill('A property for each month');
}

async function modes(page) {
  await page.getByRole('button', { name: /^Permission mode/ }).click();
}

async function withoutAsking(page) {
  await modes(page);
  await page.getByRole('menuitem', { name: /Skip all permissions/ }).click();
}

/** Chooses an accent colour on the settings page, and types a prompt: the box with the focus and *Send* show it. */
const accent = (name) => async (page) => {
  await page.keyboard.press('Control+,');
  await page.getByRole('radio', { name, exact: false }).check();
  await page.keyboard.press('Escape');
  await type(page, 'look at @s');
};

/** Opens the settings, at a section in a wide window. */
async function settings(page, section) {
  await page.keyboard.press('Control+,');
  await page.getByRole('dialog', { name: 'Settings' }).waitFor();
  const place = page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: section });
  if (section !== undefined && (await place.isVisible())) await place.click();
  else if (section !== undefined) await page.getByRole('combobox', { name: 'Section' }).selectOption(section);
}

/** Chooses a theme by its radio button, which lies over its picture. */
async function darkTheme(page) {
  await settings(page);
  await page.getByRole('radio', { name: 'Dark' }).check();
}

const ACCENTS = ['blue', 'green', 'purple', 'rose', 'grey'];

async function context(page) {
  await page.getByRole('button', { name: /^Context/ }).click();
  await page.getByRole('dialog').getByRole('table').waitFor();
}

/** Looks for a folder on another machine, from the start page. */
async function browse(page) {
  await press(page, 'Open on another machine…');
  await press(page, 'box');
  await press(page, 'Browse');
  await press(page, 'code');
  await page.getByRole('button', { name: 'tide-tables', exact: true }).waitFor();
}

/** Presses keys in the list of the board. */
const boardKeys =
  (...keys) =>
  async (page) => {
    await page.getByRole('list', { name: 'Needs you' }).waitFor();
    for (const key of keys) await page.keyboard.press(key);
  };

/** Asks a machine on the board what runs there. */
async function listSessions(page) {
  await press(page, 'Other machines');
  await press(page, 'List sessions on build-server');
  await page.getByText('Move the importer to the new parser').waitFor();
}

const menuOf = (selector) => async (page) => {
  await page
    .locator(selector)
    .last()
    .click({ button: 'right', position: { x: 60, y: 8 } });
  await page.getByRole('menu').waitFor();
};

/** Opens the window's menu and goes into submenus with these keys. */
const mainMenu =
  (...keys) =>
  async (page) => {
    await page.keyboard.press('F10');
    for (const key of keys) await page.keyboard.press(key);
    await page.getByRole('menu', { name: 'Menu', exact: true }).waitFor();
  };

/** A window of the app with a scene of the fake host. */
const inWindow = ({ scene, ...rest }) => ({ address: `?scene=${scene}`, ready: 'main', ...rest });

export const scenes = (names) => names.map((name) => inWindow({ name, scene: name }));

/** Each story page, and once more with longer words in the small size. */
export function stories(names) {
  const page = (name) => ({ name: `stories-${name}`, address: `stories.html?page=${name}`, ready: '[data-ready]' });
  const longer = (view) => ({
    ...view,
    name: `${view.name}-longer`,
    sizes: ['small'],
    themes: ['light'],
    prepare: lengthen,
  });
  return names.map(page).flatMap((view) => [view, longer(view)]);
}

export const extraViews = [
  { name: 'modes', scene: 'held', themes: ['dark'], prepare: modes },
  { name: 'without-asking', scene: 'held', themes: ['light'], prepare: withoutAsking },
  { name: 'permission-always', scene: 'permission', themes: ['light'], prepare: always },
  { name: 'question-answered', scene: 'question', themes: ['light'], prepare: answer },
  { name: 'settings', scene: 'trust', prepare: (page) => settings(page) },
  { name: 'settings-notifications', scene: 'conversation', prepare: (page) => settings(page, 'Notifications') },
  { name: 'settings-theme', scene: 'conversation', sizes: ['wide'], themes: ['light'], prepare: darkTheme },
  ...ACCENTS.map((name) => ({ name: `accent-${name}`, scene: 'empty', sizes: ['wide'], prepare: accent(name) })),
  { name: 'context', scene: 'conversation', prepare: context },
  { name: 'commands', scene: 'empty', prepare: (page) => type(page, '/') },
  { name: 'files', scene: 'empty', prepare: (page) => type(page, 'look at @s') },
  { name: 'palette', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+k') },
  { name: 'side-by-side', scene: 'conversation', prepare: sideBySide },
  { name: 'find', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+f') },
  { name: 'sessions', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+b') },
  { name: 'side', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+j') },
  { name: 'reading', scene: 'long', prepare: scrollUp },
  { name: 'sessions-many-end', scene: 'history-many', sizes: ['wide'], prepare: lastSession },
  { name: 'sessions-many-filter', scene: 'history-many', sizes: ['wide'], prepare: filterSessions },
  { name: 'unfolded', scene: 'conversation', prepare: unfold },
  { name: 'menu-session', scene: 'conversation', prepare: menuOf('header[data-session]') },
  { name: 'menu-message', scene: 'conversation', prepare: menuOf('[role=log] [data-item]:has(.fold)') },
  { name: 'menu-prompt', scene: 'conversation', prepare: menuOf('[role=log] [data-item]:has(.prompt)') },
  { name: 'menu-window', scene: 'conversation', prepare: mainMenu('s', 'ArrowRight', 'r', 'r', 'e', 'w') },
  { name: 'menu-choices', scene: 'conversation', prepare: mainMenu('a', 'ArrowRight', 'm', 'ArrowRight') },
  { name: 'menu-off', scene: 'empty', prepare: mainMenu('s', 'ArrowRight', 'f', 'o', 'r', 'k') },
  { name: 'menu-start', scene: 'projects', prepare: mainMenu('ArrowRight') },
  { name: 'menu-board', scene: 'board', prepare: mainMenu('g', 'ArrowRight') },
  { name: 'open-machine', scene: 'projects', prepare: browse },
  { name: 'board-key', scene: 'board-three', prepare: boardKeys('ArrowDown') },
  { name: 'board-whole', scene: 'board', prepare: boardKeys('ArrowDown', ' ') },
  { name: 'board-asked', scene: 'board-machines', prepare: listSessions },
  { name: 'draft', scene: 'streaming', prepare: (page) => type(page, 'and one more thing') },
  { name: 'longer', scene: 'conversation', prepare: lengthen },
  { name: 'longer-asking', scene: 'permission', prepare: lengthen },
  { name: 'zoom-50', scene: 'conversation', zoom: 0.5 },
  { name: 'zoom-200', scene: 'conversation', zoom: 2 },
  { name: 'zoom-200-asking', scene: 'permission', zoom: 2 },
].map(inWindow);

/** What is drawn until the script has run. */
export const opening = { name: 'opening', address: '', ready: '.opening', scripts: false };
