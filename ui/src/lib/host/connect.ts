// Selects the host: Tauri inside the app, a scripted one in a browser.

import type { Host } from './host';

export async function connectHost(): Promise<Host> {
  if ('__TAURI_INTERNALS__' in window) return (await import('./tauri')).tauriHost;
  const { FakeHost } = await import('./fake');
  return new FakeHost(new URLSearchParams(location.search).get('scene') ?? 'conversation');
}
