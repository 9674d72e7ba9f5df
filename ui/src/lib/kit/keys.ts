// The names of keys, as the desktop at hand writes them.

export const isMac = /mac/i.test(navigator.userAgent) && !/like mac/i.test(navigator.userAgent);

/** “Ctrl+B”, or “⌘B”. */
export function withCtrl(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl+${key}`;
}

/** Was this Tab, with Shift or without? WebKitGTK knows Shift+Tab only by its place on the keyboard (2.50). */
export function isTab(event: KeyboardEvent): boolean {
  return event.key === 'Tab' || event.code === 'Tab';
}

/** Was this letter pressed with the desktop's own modifier, and with nothing else? */
export function isCtrl(event: KeyboardEvent, letter: string): boolean {
  const modifier = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  return modifier && !event.altKey && !event.shiftKey && event.key.toLowerCase() === letter;
}
