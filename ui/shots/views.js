// Views that a scene alone does not show: what opens by key or click, other zooms, longer words.

const box = (page) => page.getByRole('textbox', { name: 'Prompt' });

async function type(page, text) {
  await box(page).click();
  await page.keyboard.type(text);
}

/** Opens every line of the conversation that opens. */
async function unfold(page) {
  const closed = page.locator('[role=log] [aria-expanded=false]');
  for (let n = await closed.count(); n > 0; n = await closed.count()) await closed.first().click();
  await page.locator('[role=log]').evaluate((log) => (log.scrollTop = 0));
}

/** Makes every word of the interface longer by two fifths, as another language would. */
async function lengthen(page) {
  await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      if (text.parentElement?.closest('[role=log], pre, code, textarea, script')) continue;
      text.data = text.data.replace(
        /\p{L}{3,}/gu,
        (word) => word + word.slice(0, Math.ceil(word.length * 0.4)).toLowerCase(),
      );
    }
  });
}

export const extraViews = [
  { name: 'trust', scene: 'trust' },
  { name: 'trust-changed', scene: 'trust-changed' },
  { name: 'trust-empty', scene: 'trust-empty' },
  { name: 'trust-unreadable', scene: 'trust-unreadable' },
  { name: 'settings', scene: 'trust', prepare: (page) => page.keyboard.press('Control+,') },
  { name: 'commands', scene: 'empty', prepare: (page) => type(page, '/') },
  { name: 'files', scene: 'empty', prepare: (page) => type(page, 'look at @s') },
  { name: 'palette', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+k') },
  { name: 'find', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+f') },
  { name: 'sessions', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+b') },
  { name: 'side', scene: 'conversation', prepare: (page) => page.keyboard.press('Control+j') },
  { name: 'unfolded', scene: 'conversation', prepare: unfold },
  { name: 'draft', scene: 'streaming', prepare: (page) => type(page, 'and one more thing') },
  { name: 'longer', scene: 'conversation', prepare: lengthen },
  { name: 'longer-asking', scene: 'permission', prepare: lengthen },
  { name: 'zoom-50', scene: 'conversation', zoom: 0.5 },
  { name: 'zoom-200', scene: 'conversation', zoom: 2 },
  { name: 'zoom-200-asking', scene: 'permission', zoom: 2 },
];
