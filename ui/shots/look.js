// Problems of a page: violations found by axe, and elements that overflow the window.

import axe from 'axe-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];
/** The rules that depend on the theme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** Checks a page by all rules, or only by those about colours. */
export async function problemsOf(page, { coloursOnly = false } = {}) {
  const found = await violations(
    page,
    coloursOnly ? { type: 'rule', values: COLOURS } : { type: 'tag', values: RULES },
  );
  return coloursOnly ? found : [...found, ...(await overflows(page))];
}

async function violations(page, runOnly) {
  // Evaluated by the driver, so that the page's policy needs no exception; once per page, because it is half a
  // megabyte.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    // `preload` would request style sheets again, for a rule that is not run.
    (runOnly) => globalThis.axe.run({ runOnly, resultTypes: ['violations'], preload: false }),
    runOnly,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}) at ${target.join(' ')}: ${failureSummary ?? ''}`),
  );
}

/**
 * Finds buttons that overflow the window, and a page wider than the window. Buttons inside scrolling elements are
 * exempt.
 */
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
