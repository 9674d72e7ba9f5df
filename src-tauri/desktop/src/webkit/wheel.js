// A wheel event at a position of the page, handled as in a browser: dispatched first, then applied to what can scroll.
((x, y, deltaX, deltaY) => {
  const target = document.elementFromPoint(x, y);
  const place = { clientX: x, clientY: y, deltaX, deltaY };
  const wheel = new WheelEvent('wheel', { ...place, bubbles: true, cancelable: true, composed: true });
  if (target === null || !target.dispatchEvent(wheel)) return;
  const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll';
  for (let at = target; at !== null; at = at.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(at);
    const { scrollLeft, scrollTop } = at;
    if (scrolls(overflowX)) at.scrollLeft += deltaX;
    if (scrolls(overflowY)) at.scrollTop += deltaY;
    if (at.scrollLeft !== scrollLeft || at.scrollTop !== scrollTop) return;
  }
})
