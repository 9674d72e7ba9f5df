// The time as it passes, for what is shown as running or as so many minutes ago.

import type { Clock } from './attention.svelte';

/** Made while a component is set up; ticks as long as that component lives and `running` holds. */
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
