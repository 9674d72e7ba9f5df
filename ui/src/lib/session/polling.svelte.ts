// Reading something again and again while it is shown.

import { untrack } from 'svelte';

import { asCommandError } from '../host/host';
import { Ticker } from '../kit/ticker.svelte';
import type { Clock } from '../kit/attention.svelte';

/** Create it during component setup. It reads once a second while that component exists, one request at a time. */
export class Polling {
  /** Why the last read failed, in words; `null` if it did not. */
  problem = $state<string | null>(null);

  readonly #read: () => Promise<void>;
  #isReading = false;

  constructor(clock: Clock, read: () => Promise<void>) {
    this.#read = read;
    const ticker = new Ticker(clock);
    $effect(() => {
      void ticker.now;
      untrack(() => void this.#again());
    });
  }

  async #again(): Promise<void> {
    // A server or a disk that is slow gets no second request.
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await this.#read();
      this.problem = null;
    } catch (error) {
      const { message, detail } = asCommandError(error);
      this.problem = detail === null ? message : `${message} (${detail})`;
    } finally {
      this.#isReading = false;
    }
  }
}
