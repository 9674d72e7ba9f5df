// Whether all of an element is seen: its text is not cut off, and it is in view.

/** The fraction of an element that must be in view. Rounding takes some of the rest. */
const ALL = 0.99;

/** Follows whether all of an element is in view. Until that was measured, it is not. */
export class InView {
  isWhole = $state(true);

  /** An attachment for the element. */
  watch = (element: HTMLElement) => {
    if (!('IntersectionObserver' in window)) return;
    this.isWhole = false;
    const observer = new IntersectionObserver(
      (entries) => (this.isWhole = (entries.at(-1)?.intersectionRatio ?? 0) >= ALL),
      { threshold: ALL },
    );
    observer.observe(element);
    return () => observer.disconnect();
  };
}

/** Follows whether some of the text of an element is cut off. Until it was measured, it counts as cut. */
export class CutText {
  isCut = $state(true);
  /** Number of drawn lines that are cut off. */
  nLines = $state(0);
  #element: HTMLElement | null = null;

  /** An attachment for the element. */
  watch = (element: HTMLElement) => {
    this.#element = element;
    const observer = new ResizeObserver(() => this.measure());
    observer.observe(element);
    this.measure();
    return () => observer.disconnect();
  };

  /** Measures again, after the text or its style has changed. */
  measure(): void {
    const element = this.#element;
    if (element === null) return;
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = element;
    this.isCut = scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;
    const height = Number.parseFloat(getComputedStyle(element).lineHeight);
    this.nLines = this.isCut && height > 0 ? Math.round((scrollHeight - clientHeight) / height) : 0;
  }
}
