// Going back through the prompts of a session with the arrow keys.

export class Recall {
  #prompts: readonly string[] = [];
  #index: number | null = null;

  /** The prompt before the one that is shown; from an empty box, the last one. */
  older(prompts: readonly string[], text: string): string | null {
    if (this.#index === null || text !== this.#prompts[this.#index]) {
      if (text !== '') return null;
      this.#prompts = prompts;
      this.#index = prompts.length;
    }
    const prompt = this.#prompts[this.#index - 1];
    if (prompt === undefined) return null;
    this.#index -= 1;
    return prompt;
  }

  /** The prompt after the one that is shown; after the last one, an empty box. */
  newer(text: string): string | null {
    if (this.#index === null || text !== this.#prompts[this.#index]) return null;
    this.#index += 1;
    const prompt = this.#prompts[this.#index];
    if (prompt !== undefined) return prompt;
    this.#index = null;
    return '';
  }
}
