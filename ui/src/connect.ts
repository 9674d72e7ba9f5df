// Selects the host: Tauri inside the app, a scripted one in a browser.

import type { Host } from './lib/host/host';
import { tauriHost } from './lib/host/tauri';

export async function connectHost(): Promise<Host> {
  // A constant in the build of the app, which therefore does not have the scripted host.
  if (import.meta.env.MODE === 'production' || '__TAURI_INTERNALS__' in window) {
    return tauriHost;
  }
  const { FakeHost } = await import('./fake/host');
  return new FakeHost(new URLSearchParams(location.search).get('scene') ?? 'conversation');
}
