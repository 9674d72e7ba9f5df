// Measures how the page draws. Each call wraps this text in a function of its own; state that lasts is kept in the
// page.

// From now on: the start of each frame, and the nodes added to the conversation.
function watch(begun) {
  const kept = { frames: [], created: 0, items: new Set(), over: false };
  window.frames_kept = kept;
  let last = null;
  const beat = (now) => {
    if (last !== null) kept.frames.push(now - last);
    else begun();
    last = now;
    if (!kept.over) requestAnimationFrame(beat);
  };
  requestAnimationFrame(beat);
  const log = document.querySelector("[role=log]");
  const count = (node) => 1 + (node.nodeType === 1 ? node.querySelectorAll("*").length : 0);
  kept.observer = new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
      kept.created += count(node);
      if (node.nodeType === 1) node.querySelectorAll("[data-item]").forEach((item) => kept.items.add(item.dataset.item));
    }
  });
  if (log) kept.observer.observe(log, { subtree: true, childList: true });
}

function watched() {
  const kept = window.frames_kept;
  kept.over = true;
  kept.observer.disconnect();
  return { frames: kept.frames, created: kept.created, nodes: document.querySelectorAll("[role=log] *").length };
}

// The baseline: a page of plain text that gets a line per frame and is scrolled to its end.
function plain(count, done) {
  const scroller = document.createElement("div");
  scroller.style.cssText = "position:fixed;inset:0;overflow-y:auto;background:Canvas;color:CanvasText;z-index:9";
  document.body.append(scroller);
  const frames = [];
  let last = null;
  const next = (now) => {
    if (last !== null) frames.push(now - last);
    last = now;
    const line = document.createElement("p");
    line.textContent = "the session waits for its agent and keeps every prompt in order ".repeat(2);
    scroller.append(line);
    scroller.scrollTop = scroller.scrollHeight;
    if (frames.length < count) return requestAnimationFrame(next);
    scroller.remove();
    done({ frames, created: count, nodes: count });
  };
  requestAnimationFrame(next);
}

// Waits until the conversation meets a condition. It checks only when a row is added (the last row ends the turn),
// because more checks would change the measurement.
function when(met, limit, done) {
  if (met()) return done(true);
  const end = (isMet) => {
    observer.disconnect();
    clearTimeout(deadline);
    done(isMet);
  };
  const isRows = (change) => change.target.classList.contains("rows");
  const observer = new MutationObserver((changes) => changes.some(isRows) && met() && end(true));
  const deadline = setTimeout(() => end(met()), limit);
  observer.observe(document.querySelector("[role=log]"), { subtree: true, childList: true });
}

// The last rows contain the words.
const says = (words) => () =>
  [...document.querySelectorAll("[role=log] article")].slice(-3).some((row) => row.textContent.includes(words));

// The item was added since the measurement began.
const showed = (id) => () => window.frames_kept.items.has(id);
