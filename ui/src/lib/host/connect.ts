// Selects the host: Tauri inside the app, a scripted one in a browser.

import type { Host } from './host';

export async function connectHost(): Promise<Host> {
  // A constant in the build of the app, which therefore has neither the scripted host nor a file of its own for either.
  if (import.meta.env.MODE === 'production' || '__TAURI_INTERNALS__' in window) {
    return (await import('./tauri')).tauriHost;
  }
  const { FakeHost } = await import('./fake');
  return new FakeHost(new URLSearchParams(location.search).get('scene') ?? 'conversation');
}
