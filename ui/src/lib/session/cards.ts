// The permission cards that the user can see, reported to the shell: it shows no native dialog for a request with a
// visible card. An overlay such as the settings hides every card.

import type { RequestId, SessionId } from '../bindings/api';

export class CardsInSight {
  #inSight = new Set<RequestId>();
  #covers = 0;
  #reported = '';
  #isDue = false;
  #session: () => SessionId | null;
  #report: (session: SessionId, requests: RequestId[]) => void;

  constructor(session: () => SessionId | null, report: (session: SessionId, requests: RequestId[]) => void) {
    this.#session = session;
    this.#report = report;
  }

  /** A card came into view or left it. */
  set(request: RequestId, inSight: boolean): void {
    if (inSight) this.#inSight.add(request);
    else this.#inSight.delete(request);
    this.#schedule();
  }

  /** An overlay covers the page until the returned function is called. */
  cover(): () => void {
    this.#covers += 1;
    this.#schedule();
    return () => {
      this.#covers -= 1;
      this.#schedule();
    };
  }

  /** Reports all changes of one tick to the shell in one call. */
  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const session = this.#session();
      if (session === null) return;
      const requests = this.#covers > 0 ? [] : [...this.#inSight].sort();
      const reported = JSON.stringify([session, requests]);
      if (reported === this.#reported) return;
      this.#reported = reported;
      this.#report(session, requests);
    });
  }
}
