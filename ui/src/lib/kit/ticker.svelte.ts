// A ticking clock for values such as a running time or “5 min ago”.

import type { Clock } from './attention.svelte';

/** Create it during component setup. It ticks while that component exists and `running` returns true. */
export class Ticker {
  now = $state(0);

  constructor(clock: Clock, running: () => boolean = () => true, everyMs = 1000) {
    this.now = clock.now();
    $effect(() => {
      if (!running()) return;
      let cancel = () => {};
      const tick = () => {
        this.now = clock.now();
        cancel = clock.after(everyMs, tick);
      };
      tick();
      return () => cancel();
    });
  }
}
