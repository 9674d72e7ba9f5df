// Scrolls through the whole conversation, opens everything that can be opened, and looks for elements that no document
// may contain. Goes through it again until it has seen all items: on a busy machine they come later.
// Arguments: the mark that shows the page was not reloaded; the number of items; a limit in milliseconds; the callback.

const [token, expected, limit, done] = arguments;
const KNOWN = new Set(
  ("DIV SPAN P A B I UL OL LI H1 H2 H3 H4 H5 H6 PRE CODE BLOCKQUOTE TABLE THEAD TBODY " +
    "TR TH TD HR BR WBR BDI SUP EM STRONG DEL IMG FIGURE FIGCAPTION BUTTON TIME SECTION ARTICLE DETAILS SUMMARY").split(" "),
);
const DRAWING = new Set(["svg", "path", "circle", "line", "rect", "polyline", "polygon", "ellipse", "g"]);
const LOADS = ["src", "srcset", "srcdoc", "data", "poster", "background", "ping", "formaction", "action", "manifest", "xlink:href"];
const problems = new Set();
const seen = new Set();
const looked = new WeakSet();
const began = performance.now();
let longest = 0;

// Everything below an element, once.
function look(root) {
  for (const element of root.querySelectorAll("*")) {
    const tag = element.tagName;
    if (element.namespaceURI === "http://www.w3.org/2000/svg") {
      if (!DRAWING.has(tag)) problems.add(`element ${tag}`);
    } else if (!KNOWN.has(tag)) {
      problems.add(`element ${tag}`);
    }
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on")) problems.add(`attribute ${name}`);
      if (LOADS.includes(name) && !(tag === "IMG" && /^(data:image\/|blob:)/.test(value))) problems.add(`${tag} ${name}=${value.slice(0, 80)}`);
      if (name === "href" && !(tag === "A" && /^(https?:|mailto:)/.test(value))) problems.add(`${tag} href=${value.slice(0, 80)}`);
      if (name === "style" && /url|expression|import/i.test(value)) problems.add(`style ${value.slice(0, 80)}`);
    }
  }
}

const frames = (count) =>
  new Promise((resolve) => {
    const next = () => (count-- > 0 ? requestAnimationFrame(next) : resolve());
    next();
  });

// The longest time between two frames.
let last = performance.now();
const beat = (now) => {
  longest = Math.max(longest, now - last);
  last = now;
  if (!over) requestAnimationFrame(beat);
};
let over = false;
requestAnimationFrame(beat);

async function go() {
  const log = document.querySelector("[role=log]");
  // Most of it fits into the view at once.
  document.documentElement.style.zoom = "0.25";
  // Unfinished layout can move the view back to the end.
  for (let tries = 0; tries < 3; tries += log.scrollTop > 0 ? 0 : 1) {
    log.scrollTop = 0;
    await frames(3);
  }
  let stuck = 0;
  for (;;) {
    for (let closed; (closed = [...log.querySelectorAll("[aria-expanded=false]")]).length > 0; ) {
      closed.forEach((button) => button.click());
      await frames(1);
    }
    const more = [...log.querySelectorAll("button.more")];
    more.forEach((button) => button.click());
    await frames(more.length > 0 ? 2 : 1);
    const rows = [...log.querySelectorAll("[data-item]")];
    for (const row of rows.filter((row) => !looked.has(row))) {
      looked.add(row);
      seen.add(row.dataset.item);
      look(row);
    }
    const top = log.scrollTop;
    const last = [...log.querySelectorAll("[data-item]")].at(-1);
    const drawnTo = last === undefined ? 0 : last.getBoundingClientRect().bottom - log.getBoundingClientRect().top + top;
    // Everything drawn has been checked, however high it is. Rows that are drawn for the first time move those below.
    log.scrollTop = Math.max(top + log.clientHeight * 0.8, drawnTo - log.clientHeight);
    await frames(2);
    const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 2;
    stuck = log.scrollTop <= top + 1 ? stuck + 1 : 0;
    if (stuck > (atEnd ? 2 : 20)) {
      if (seen.size >= expected || performance.now() - began > limit) break;
      [log.scrollTop, stuck] = [0, 0];
      await frames(2);
    }
  }
  document.documentElement.style.zoom = "";
  over = true;
  return { problems: [...problems], longest, seen: seen.size, ran: window.ran ?? null, same: window.token === token, href: location.href };
}

go().then(done, (error) => done({ problems: [`the look itself failed: ${error}`], longest, seen: seen.size, ran: null, same: false, href: "" }));
