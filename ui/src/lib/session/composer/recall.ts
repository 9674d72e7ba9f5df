// Prompt history: recalls the prompts of a session with the arrow keys.

export class Recall {
  #prompts: readonly string[] = [];
  #index: number | null = null;

  /** Returns the prompt before the shown one; from an empty box, the last prompt. */
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

  /** Returns the prompt after the shown one; after the last one, an empty text. */
  newer(text: string): string | null {
    if (this.#index === null || text !== this.#prompts[this.#index]) return null;
    this.#index += 1;
    const prompt = this.#prompts[this.#index];
    if (prompt !== undefined) return prompt;
    this.#index = null;
    return '';
  }
}
