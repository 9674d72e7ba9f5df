// Selects the host: Tauri inside the app, a scripted one in a browser.

import type { Host } from './host';
import { tauriHost } from './tauri';

export async function connectHost(): Promise<Host> {
  // A constant in the build of the app, which therefore does not have the scripted host.
  if (import.meta.env.MODE === 'production' || '__TAURI_INTERNALS__' in window) {
    return tauriHost;
  }
  const { FakeHost } = await import('./fake');
  return new FakeHost(new URLSearchParams(location.search).get('scene') ?? 'conversation');
}
