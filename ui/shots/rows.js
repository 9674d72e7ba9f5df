// Measures a long answer as bounded rows next to today's single row: changes of rows while the text streams, drawing,
// selection, the accessibility tree, and slices of long lists and tables. docs/design/transcript-windows.md has the
// result. `node shots/rows.js [BUSY]` measures with that many other busy processes.
//
// The changes are the engine's: this needs `cargo build -p deskbell-document --example changes`.

import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { launch, serve, UI } from './browser.js';

const nBusy = Number(process.argv[2] ?? 0);
const KB = 1024;

const list = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const words = (i) => `The total of month ${i} is off by a *cent* because \`round_${i}\` goes **away from zero**`;

/** Texts of one kind, and a typical mixture. */
const KINDS = {
  paragraphs: () => list(120, (i) => `${words(i)}, and ${words(i + 1)}.\n\n`).join(''),
  'nested lists': () =>
    list(60, (i) => `- ${words(i)}\n  1. ${words(i + 1)}\n     - ${words(i + 2)}\n  2. deeper\n`).join(''),
  tables: () =>
    list(
      8,
      (i) => `| Month ${i} | Before | After |\n|---|---|---|\n${list(30, () => '| a | `1` | 2 |\n').join('')}\n`,
    ).join('\n'),
  code: () =>
    `\`\`\`rust\n${list(400, (i) => `    let total_${i} = money.round(${i}); // the month\n`).join('')}\`\`\`\n`,
  quotes: () => list(40, (i) => `> ${words(i)}\n>\n> - ${words(i + 1)}\n\n`).join(''),
  'links defined at the end': () =>
    `${list(80, (i) => `See [month ${i}][${i}], ${words(i)}.\n\n`).join('')}\n${list(
      80,
      (i) => `[${i}]: https://example.org/${i}\n`,
    ).join('')}`,
};
KINDS['a mixture'] = () =>
  list(4, () =>
    Object.entries(KINDS)
      .slice(0, 5)
      .map(([, make]) => part(make()))
      .join('\n\n'),
  ).join('\n\n');
const part = (text) => text.slice(0, text.indexOf('\n', 3 * KB));

/** The changes of a text that arrives in pieces, by the engine's parser. */
function changesOf(input, piece = 32) {
  const program = join(UI, '../target/debug/examples/changes');
  const { stdout, status, error } = spawnSync(program, [String(piece)], { input, maxBuffer: 4 * 1024 * KB * KB });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? status}`);
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const server = await serve('cost-page', ['cost']);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 900, height: 800 } });
page.on('pageerror', (error) => console.error(`the page failed: ${error.message}`));
const address = new URL('cost.html', server.resolvedUrls.local[0]).href;
const driver = await page.context().newCDPSession(page);
await driver.send('Performance.enable', { timeDomain: 'threadTicks' });
await open();

async function open() {
  await page.goto(address);
  await page.locator('[data-ready]').waitFor({ state: 'attached' });
}

async function spent() {
  const { metrics } = await driver.send('Performance.getMetrics');
  return metrics.find((metric) => metric.name === 'TaskDuration').value * 1000;
}

console.log('\nChanges of rows, with pieces of 32 characters');
for (const [kind, make] of Object.entries(KINDS)) {
  const text = make();
  const counts = await page.evaluate((changes) => globalThis.countRows(changes), changesOf(text));
  const perKb = (n) => (n / (text.length / KB)).toFixed(2);
  console.log(
    `${kind}: ${(text.length / KB).toFixed(0)} KB, ${counts.rows} rows, largest ${counts.elements} elements; per KB: ` +
      `${perKb(counts.grew)} last row, ${perKb(counts.added)} added, ${perKb(counts.resettled)} earlier row changed, ` +
      `${perKb(counts.renumbered)} renumbered, ${perKb(counts.removed)} removed; sent per byte: ` +
      `${(counts.sentAsBlocks / text.length).toFixed(1)} as blocks, ${(counts.sentAsRows / text.length).toFixed(1)} as rows`,
  );
}

const busy = list(nBusy, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
console.log(`\nDrawing 200 KB in 5 s, with ${nBusy} busy processes`);
const mixture = list(5, () => KINDS['a mixture']())
  .join('\n\n')
  .slice(0, 200 * KB);
const given = { text: mixture, changes: changesOf(mixture, 200) };
for (let round = 0; round < 3; round += 1) {
  for (const way of ['plain', 'answer', 'rows']) {
    await open();
    await page.evaluate(([way, given]) => globalThis.prepareStream(way, 700, given), [way, given]);
    const before = await spent();
    const { frames, elements } = await page.evaluate(() => globalThis.stream());
    const took = (await spent()) - before;
    const sorted = frames.sort((a, b) => a - b);
    console.log(
      `${way}: ${took.toFixed(0)} ms of the main thread, ${frames.length} frames, ` +
        `p99 ${sorted[Math.floor(sorted.length * 0.99)].toFixed(0)} ms, longest ${sorted.at(-1).toFixed(0)} ms, ` +
        `${sorted.filter((ms) => ms > 50).length} over 50 ms, ${elements} elements`,
    );
  }
}
for (const process of busy) process.kill();

/** Draws a whole text at once. */
async function drawn(way, text) {
  await open();
  const given = { text, changes: changesOf(text, 1 << 20) };
  await page.evaluate(([way, given]) => globalThis.prepareStream(way, 1 << 24, given), [way, given]);
  await page.evaluate(() => globalThis.stream());
  await settled();
}

async function settled() {
  await page.waitForFunction(
    () =>
      new Promise((done) => {
        let n = 12;
        const next = () => (--n > 0 ? requestAnimationFrame(next) : done(true));
        next();
      }),
  );
}

console.log('\nSelection: from the first paragraph of an answer of 30 KB to its last, then what Copy would get');
for (const way of ['answer', 'rows']) {
  const text = list(100, (i) => `Paragraph ${i}: ${words(i)}, and ${words(i)}, and again ${words(i)}.\n\n`).join('');
  await drawn(way, text);
  const log = page.locator('[role=log]');
  const to = async (top) => {
    await log.evaluate((log, top) => {
      log.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
      log.scrollTop = top;
    }, top);
    await settled();
  };
  await to(0);
  const first = await page.locator('[role=log] p').first().boundingBox();
  await page.mouse.click(first.x + 2, first.y + 6);
  const near = page.locator('[role=log] p').nth(3);
  const box = await near.boundingBox();
  await page.keyboard.down('Shift');
  await page.mouse.click(box.x + 60, box.y + 6);
  const visible = await page.evaluate(() => getSelection().toString());
  await page.keyboard.up('Shift');
  const height = await log.evaluate((log) => log.scrollHeight);
  for (let top = 0; top < height; top += 600) await to(top);
  const last = await page.locator('[role=log] p').last().boundingBox();
  await page.keyboard.down('Shift');
  await page.mouse.click(last.x + 60, last.y + 6);
  await page.keyboard.up('Shift');
  const whole = await page.evaluate(() => getSelection().toString());
  const found = (text) => new Set(text.match(/Paragraph \d+/g)).size;
  console.log(`${way}: ${found(visible)} of 4 paragraphs within the view, ${found(whole)} of 100 in all`);
}

console.log('\nAccessibility tree of one answer (20 paragraphs, a list of 150 items, a table of 150 rows)');
const tree =
  list(20, (i) => `${words(i)}.\n\n`).join('') +
  list(150, (i) => `${i + 1}. ${words(i)}\n`).join('') +
  `\n| a | b |\n|---|---|\n${list(150, (i) => `| ${i} | b |\n`).join('')}`;
for (const way of ['answer', 'rows', 'rows in one article']) {
  await drawn(way === 'answer' ? way : 'rows', tree);
  if (way === 'rows in one article') {
    // The drawn rows of a message are neighbours, so one element can be around them.
    await page.evaluate(() => {
      document.querySelectorAll('.row article').forEach((article) => article.setAttribute('role', 'none'));
      document.querySelector('.rows').setAttribute('role', 'article');
    });
  }
  const { nodes } = await driver.send('Accessibility.getFullAXTree');
  const count = (role) => nodes.filter((node) => !node.ignored && node.role?.value === role).length;
  const roles = ['article', 'list', 'listitem', 'table', 'row', 'columnheader', 'paragraph'];
  console.log(`${way}: ${roles.map((role) => `${count(role)} ${role}`).join(', ')}`);
}

console.log('\nSlices of 2,000 lines');
const LONG = {
  list: list(2_000, (i) => `${i + 1}. ${'word '.repeat(1 + (i % 9))}\n`).join(''),
  table: `| name | value | note |\n|---|---|---|\n${list(2_000, (i) => `| row ${i} | ${'x'.repeat(i === 1_980 ? 60 : i % 23)} | ${i ** 3} |\n`).join('')}`,
};
for (const [kind, text] of Object.entries(LONG)) {
  for (const way of ['answer', 'rows']) {
    await drawn(way, text);
    const result = await page.evaluate(() => {
      const log = document.querySelector('[role=log]');
      const marks = [...log.querySelectorAll('li')].map((li) => Number.parseInt(li.dataset.mark ?? '', 10));
      const columns = [...log.querySelectorAll('thead tr')].map((tr) =>
        [...tr.children].map((th) => Math.round(th.getBoundingClientRect().x)).join(' '),
      );
      return {
        elements: log.querySelectorAll('*').length,
        rows: log.querySelectorAll('.row').length,
        marks:
          marks.length === 0
            ? 'none'
            : `${marks[0]} to ${marks.at(-1)}, ${marks.every((mark, i) => i === 0 || mark === marks[i - 1] + 1) ? 'without a gap' : 'with gaps'}`,
        heads: columns.length,
        columns: new Set(columns).size,
      };
    });
    console.log(
      `${kind}, ${way}: ${result.rows} rows drawn, ${result.elements} elements; numbers ${result.marks}; ` +
        `${result.heads} table heads, columns in ${result.columns} different places`,
    );
  }
}
await browser.close();
await server.close();
