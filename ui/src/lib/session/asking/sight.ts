// Visibility of a request's card.

/** A card counts as visible if half of it, or at least this many pixels of its height, are in view. */
const ENOUGH_PX = 160;
const STEPS = 20;

/** An attachment that reports whether its element is visible, and `false` when the element is removed. */
export function watchSight(tell: (inSight: boolean) => void) {
  return (element: Element) => {
    if (!('IntersectionObserver' in window)) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (entry === undefined) return;
        tell(entry.intersectionRatio >= 0.5 || entry.intersectionRect.height >= ENOUGH_PX);
      },
      { threshold: Array.from({ length: STEPS + 1 }, (_, step) => step / STEPS) },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      tell(false);
    };
  };
}
