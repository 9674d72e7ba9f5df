// The actions that were chosen in the palette, most recent first; the same in all windows.

const KEY = 'deskbell.recentActions';
const MOST = 8;

export function recentActions(): string[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(saved) ? saved.filter((id) => typeof id === 'string').slice(0, MOST) : [];
  } catch {
    // Not written by this version. The next choice replaces it.
    return [];
  }
}

export function rememberAction(id: string): void {
  const others = recentActions().filter((other) => other !== id);
  localStorage.setItem(KEY, JSON.stringify([id, ...others].slice(0, MOST)));
}
