// Rarely used parts of the page: their script is loaded when they are first shown.

/** A component that is loaded when it is first shown. */
export class Later<Shown> {
  #component = $state.raw<Shown | null>(null);
  #failure = $state.raw<{ reason: unknown } | null>(null);
  #loading: Promise<void> | null = null;

  constructor(private readonly read: () => Promise<{ default: Shown }>) {}

  /** The component; `null` while it is loaded, which begins here. Throws the reason if it could not be loaded. */
  get component(): Shown | null {
    const failure = this.#failure;
    if (failure !== null) {
      // Drawing it again tries again.
      queueMicrotask(() => (this.#failure = null));
      throw failure.reason;
    }
    if (this.#component === null) void this.load();
    return this.#component;
  }

  /** Whether it is neither there nor known to be missing. */
  get isAwaited(): boolean {
    return this.#component === null && this.#failure === null;
  }

  /** Loads the component, unless that is done or under way. */
  load(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<void> {
    try {
      this.#component = (await this.read()).default;
    } catch (reason) {
      this.#loading = null;
      this.#failure = { reason };
    }
  }
}
