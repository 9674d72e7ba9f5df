// Keeps the keyboard somewhere: if the element with the focus is removed, the focus goes on to the prompt.

/** The browser leaves the focus at the body when the focused element is removed. */
export const isNowhere = () => document.activeElement === null || document.activeElement === document.body;

/**
 * Watches for the removal of the focused element. Of an entry of the conversation, the focus goes to the conversation,
 * which can then still be scrolled by key; otherwise `toPrompt` is called. A part that moves the focus itself has
 * precedence. Returns the function that ends the watch.
 */
export function keepFocus(toPrompt: () => void): () => void {
  let last: Element | null = null;
  let log: HTMLElement | null = null;
  const note = () => {
    last = document.activeElement;
    log = last?.closest('[id^="request-"]') ? null : (last?.closest<HTMLElement>('[role=log]') ?? null);
  };
  let timer: ReturnType<typeof setTimeout> | null = null;
  const check = () => {
    if (timer !== null || last === null || last.isConnected || !isNowhere()) return;
    // A part that moves the focus itself does so after the next drawing.
    timer = setTimeout(() => {
      timer = null;
      if (!isNowhere() || document.querySelector('dialog[open]') !== null) return;
      if (log?.isConnected === true) log.focus({ preventScroll: true });
      else toPrompt();
    });
  };
  const observer = new MutationObserver(check);
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', note);
  return () => {
    observer.disconnect();
    if (timer !== null) clearTimeout(timer);
    document.removeEventListener('focusin', note);
  };
}
