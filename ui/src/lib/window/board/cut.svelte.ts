// Whether an element shows all of its text.

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
