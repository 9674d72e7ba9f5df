// The answers to an agent's questions while they are being given.

import type { Question } from '../bindings/api';

/** One question: the options that are chosen, or words of one's own. */
export class QuestionAnswer {
  readonly question: Question;
  chosen = $state<string[]>([]);
  own = $state('');

  constructor(question: Question) {
    this.question = question;
  }

  toggle(label: string, on: boolean): void {
    if (!this.question.multiSelect) {
      this.chosen = on ? [label] : [];
      if (on) this.own = '';
      return;
    }
    this.chosen = this.question.options
      .map((option) => option.label)
      .filter((option) => (option === label ? on : this.chosen.includes(option)));
  }

  /** Words of one's own stand instead of a single choice, and beside several. */
  write(text: string): void {
    this.own = text;
    if (!this.question.multiSelect && text.trim() !== '') this.chosen = [];
  }

  /** As the agent reads it; several are joined by a comma. Empty if nothing was chosen. */
  get text(): string {
    const own = this.own.trim();
    return [...this.chosen, ...(own === '' ? [] : [own])].join(', ');
  }
}
