// Answers to an agent's questions while the user gives them.

import type { Question } from '../../bindings/api';

/** The answer to one question: chosen options, or the user's own words. */
export class QuestionAnswer {
  readonly question: Question;
  /** The indexes of the chosen options: two options can have the same label. */
  chosen = $state.raw<readonly number[]>([]);
  own = $state('');

  /** The labels of several options. */
  #ambiguous = new Set<string>();

  constructor(question: Question) {
    this.question = question;
    const labels = new Set<string>();
    for (const { label } of question.options) (labels.has(label) ? this.#ambiguous : labels).add(label);
  }

  toggle(option: number, on: boolean): void {
    if (!this.question.multiSelect) {
      this.chosen = on ? [option] : [];
      if (on) this.own = '';
      return;
    }
    const others = this.chosen.filter((other) => other !== option);
    this.chosen = on ? [...others, option].toSorted((a, b) => a - b) : others;
  }

  /** Sets the user's own words. They replace a single choice, and are added to multiple ones. */
  write(text: string): void {
    this.own = text;
    if (!this.question.multiSelect && text.trim() !== '') this.chosen = [];
  }

  /** The answer as the agent reads it; several parts are joined by commas. Empty if there is no answer. */
  get text(): string {
    const own = this.own.trim();
    return [...this.chosen.map((option) => this.#words(option)), ...(own === '' ? [] : [own])].join(', ');
  }

  /** The label of an option. If another option has the same label, the description is added to distinguish them. */
  #words(option: number): string {
    const { label = '', description = '' } = this.question.options[option] ?? {};
    return this.#ambiguous.has(label) && description !== '' ? `${label} (${description})` : label;
  }
}

/**
 * The answers by question text, the agent's only name for a question. Answers to questions with the same text are
 * joined in order.
 */
export function answersByQuestion(answers: readonly QuestionAnswer[]): Record<string, string> {
  const byQuestion = new Map<string, string[]>();
  for (const { question, text } of answers) {
    const texts = byQuestion.get(question.text);
    if (texts === undefined) byQuestion.set(question.text, [text]);
    else texts.push(text);
  }
  return Object.fromEntries([...byQuestion].map(([question, texts]) => [question, texts.join(', ')]));
}
