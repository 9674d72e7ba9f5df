// Key names as the current platform writes them.

export const isMac = /mac/i.test(navigator.userAgent) && !/like mac/i.test(navigator.userAgent);

/** “Ctrl+B”, or “⌘B” on macOS. */
export function withCtrl(key: string): string {
  return isMac ? `⌘${key}` : `Ctrl+${key}`;
}

/** Whether this was Tab, with or without Shift. WebKitGTK (2.50) reports Shift+Tab only by its key code. */
export function isTab(event: KeyboardEvent): boolean {
  return event.key === 'Tab' || event.code === 'Tab';
}

/** Whether this letter was pressed with the platform's own modifier only. */
export function isCtrl(event: KeyboardEvent, letter: string): boolean {
  const modifier = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  return modifier && !event.altKey && !event.shiftKey && event.key.toLowerCase() === letter;
}
