import { join } from 'node:path';

import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const MAIN = join(import.meta.dirname, 'src/main.ts');

interface Graph {
  getModuleInfo(id: string): { readonly importers: readonly string[] } | null;
}

/**
 * Whether a project's window needs a module at its start: `main.ts` imports it statically. `main.ts` itself is excluded:
 * it waits for the host, which imports some of these modules.
 */
function isAtStart(id: string, graph: Graph, seen = new Set<string>()): boolean {
  if (id === MAIN || seen.has(id)) return false;
  seen.add(id);
  const importers = graph.getModuleInfo(id)?.importers ?? [];
  return importers.some((importer) => importer === MAIN || isAtStart(importer, graph, seen));
}

/** The largest script that a project's window may need at its start, in bytes. */
const MOST_AT_START = 450_000;

/** Fails the build if the script of the start grows beyond its bound. */
const startIsBounded: Plugin = {
  name: 'start-is-bounded',
  // The pages of stories and costs have no start script.
  apply: (_config, { command, mode }) => command === 'build' && mode === 'production',
  generateBundle(_options, bundle) {
    const start = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === 'start');
    if (start?.type !== 'chunk') return this.error('There is no script named start.');
    const size = Buffer.byteLength(start.code);
    const words = `The script of the start has ${size} bytes, more than ${MOST_AT_START}.`;
    if (size > MOST_AT_START) this.error(`${words} Load what is seldom seen later (src/lib/kit/later.svelte.ts).`);
  },
};

export default defineConfig({
  plugins: [svelte(), svelteTesting(), startIsBounded],
  clearScreen: false,
  server: { host: '127.0.0.1', port: 5173, strictPort: true },
  preview: { host: '127.0.0.1', port: 4173, strictPort: true },
  build: {
    outDir: 'dist',
    target: ['es2022', 'safari16', 'chrome111'],
    // The content security policy knows files of our own origin only: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Without this, each module shared by the start and a later part is a separate file: 40 at the start.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ debugName: 'start', name: (id, graph) => (isAtStart(id, graph) ? 'start' : null) }],
        },
      },
    },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/test/setup.ts'],
    // No test leaves anything behind, so the files share one environment for each worker.
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    // A test of a second took over 20 with other work at a higher priority.
    testTimeout: 60_000,
  },
});
