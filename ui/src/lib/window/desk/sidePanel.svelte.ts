// Whether the panel with changes and tasks is shown.

interface SidePanelFacts {
  /** The sessions on screen. */
  sessions: string;
  /** A request waits for the user's answer. */
  isAsked: boolean;
  /** The focus moved between two sessions, and the changes of the other one are being read. */
  isReading: boolean;
  /** The panel has something to show. */
  isUseful: boolean;
  /** What the user chose for this project; `null` if nothing yet. */
  chosen: boolean | null;
  /** Whether it is shown without a choice of the user. */
  usual: boolean;
}

/**
 * The panel of a wide window. It opens and closes by itself, but not beside a request: the card would move, and *Allow
 * once* with it, below a pointer that is about to press something else.
 */
export class SidePanelState {
  isShown = $state(false);
  #before: SidePanelFacts | null = null;

  /** Create it during component setup. */
  constructor(facts: () => SidePanelFacts) {
    $effect.pre(() => {
      const now = facts();
      const before = this.#before;
      this.#before = now;
      const isByUser = before === null || now.sessions !== before.sessions || now.chosen !== before.chosen;
      if ((now.isAsked || now.isReading) && !isByUser) return;
      this.isShown = now.isUseful && (now.chosen ?? now.usual);
    });
  }
}
