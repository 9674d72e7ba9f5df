// Classes of text: one long line, many lines, one character again and again, and near-matches of every expression.

import { answersByQuestion, QuestionAnswer } from '../../lib/session/asking/answers.svelte';
import { completions } from '../../lib/session/composer/completion';
import { complete, mentionAt, withMentions, written } from '../../lib/session/mention';
import { Recall } from '../../lib/session/composer/recall';
import { modelLabel } from '../../lib/session/modes';
import { mustShowHost } from '../../lib/document/host';
import { fenced, indented } from '../../lib/document/markdown';
import { loggedError } from '../../lib/host/host';
import { matching } from '../../lib/window/palette/entries';
import { pieces } from '../../lib/kit/pieces';
import { flagged, reveal, warnings } from '../../lib/text/reveal';
import { lookupWords, stateOfAll } from '../../lib/text/tools';
import { session } from '../make';
import { list, repeat, type Class } from './inputs';

/** Texts that hurt: each is about `n` characters long. */
export const TEXTS = {
  'one word': (n: number) => 'a'.repeat(n),
  'one line': (n: number) => repeat('word and ', n),
  lines: (n: number) => repeat('a line\n', n),
  'empty lines': (n: number) => '\n'.repeat(n),
  blanks: (n: number) => ' '.repeat(n),
  'blanks at every end': (n: number) => repeat('a  \n', n),
  tabs: (n: number) => '\t'.repeat(n),
  'words of 499': (n: number) => repeat(`${'a'.repeat(499)} `, n),
  'words of 501': (n: number) => repeat(`${'a'.repeat(501)} `, n),
  'blanks that do not break': (n: number) => repeat('a\u{a0}', n),
  brackets: (n: number) => '['.repeat(n),
  backslashes: (n: number) => '\\'.repeat(n),
  backticks: (n: number) => repeat('`a', n),
  'backticks in one run': (n: number) => '`'.repeat(n),
  dots: (n: number) => '.'.repeat(n),
  hyphens: (n: number) => `a${'-'.repeat(n)}`,
  'labels of a host': (n: number) => `${repeat('a.', n)}1`,
  'labels that end in a hyphen': (n: number) => repeat('a-.', n),
  'names of hosts': (n: number) => repeat('a.example ', n),
  'combining marks': (n: number) => `a${'\u{301}'.repeat(n)}`,
  'letters with marks': (n: number) => repeat('a\u{301}', n),
  surrogates: (n: number) => '\u{d800}'.repeat(n),
  pictures: (n: number) => '😀'.repeat(n / 2),
  'joined pictures': (n: number) => repeat('👩\u{200d}', n),
  'directions of text': (n: number) => repeat('\u{202e}a\u{2066}', n),
  'invisible characters': (n: number) => '\u{200b}'.repeat(n),
  'control characters': (n: number) => '\u{1}'.repeat(n),
  lookalikes: (n: number) => repeat('а', n),
  'odd and even': (n: number) => repeat('a\u{200b}', n),
  mentions: (n: number) => `${repeat(',@', n)} `,
  'quoted mentions': (n: number) => `${repeat(' @"a', n)}\n`,
  slashes: (n: number) => '/'.repeat(n),
  'a command of the agent': (n: number) => `/${'a'.repeat(n)}`,
  quotes: (n: number) => '"'.repeat(n),
} satisfies Record<string, (n: number) => string>;

const of = (name: string, work: (text: string) => unknown): Class[] =>
  Object.entries(TEXTS).map(([kind, make]) => [
    `${name}: ${kind}`,
    (n) => {
      const text = make(n);
      return () => work(text);
    },
  ]);

const commands = (n: number) => list(n, (i) => ({ name: `a${i}`, description: '', argumentHint: '' }));

export const texts: readonly Class[] = [
  ...of('reveal', (text) => warnings(reveal(text).oddities)),
  ...of('line of a diff', (text) => flagged(text, true)),
  ...of('long words', pieces),
  ...of('host of a link', (text) => mustShowHost(text, 'other.example')),
  ...of('mention', (text) => mentionAt(text, text.length)),
  ...of('completed mention', (text) => complete(text, 0, { start: 0, query: '' }, text)),
  ...of('dropped name', (text) => withMentions(text, [text, written(text)])),
  ...of('slash command', (text) => completions(commands(10), text)),
  ...of('palette', (text) => matching([{ id: 'a', label: text, run: () => {} }], text)),
  ...of('model', (text) => modelLabel(session({ model: text, models: [] }))),
  ...of('fence', (text) => fenced('', text)),
  ...of('indentation', (text) => indented(text, '> ', '> ')),
  ...of('error', (text) => loggedError(Object.assign(new Error(text), { stack: text }))),
  ['host of a link: a long host', (n) => () => mustShowHost('a'.repeat(n), `b${'a'.repeat(n / 4)}`)],
  [
    'model: almost a full name',
    (n) => () => modelLabel(session({ model: `claude-a-1${'-11'.repeat(n / 3)}x`, models: [] })),
  ],
  ['model: one long number', (n) => () => modelLabel(session({ model: `claude-a-${'1'.repeat(n)}`, models: [] }))],
  [
    'slash command: many commands',
    (n) => {
      const all = commands(n / 4);
      return () => completions(all, '/a');
    },
  ],
  [
    'palette: many actions and words',
    (n) => {
      const all = list(n / 8, (i) => ({ id: `${i}`, label: `Open ${i % 7}`, run: () => {} }));
      return () => matching(all, 'o p 5');
    },
  ],
  [
    'recall: many prompts',
    (n) => {
      const [prompts, recall] = [list(n / 8, (i) => `prompt ${i}`), new Recall()];
      return () => {
        for (let text: string | null = ''; text !== null;) text = recall.older(prompts, text);
      };
    },
  ],
  [
    'lookups: many calls',
    (n) => {
      const icons = ['read', 'search'] as const;
      const states = ['succeeded', 'failed', 'running'] as const;
      const calls = list(n / 4, (i) => ({
        icon: icons[i % 2] ?? 'read',
        state: states[i % 3] ?? 'failed',
        verb: 'Read',
        subject: 'a',
      }));
      return () => [lookupWords(calls), stateOfAll(calls.map(({ state }) => state))];
    },
  ],
  [
    'question: every option chosen',
    (n) => {
      const options = list(n / 8, (i) => ({ label: `option ${i % 3}`, description: `${i}`, preview: null }));
      const answer = new QuestionAnswer({ text: 'a', header: '', multiSelect: true, options });
      answer.chosen = options.map((_, i) => i);
      return () => answer.text;
    },
  ],
  [
    'question: one text again and again',
    (n) => {
      const answers = list(
        n / 2,
        () =>
          new QuestionAnswer({
            text: 'a',
            header: '',
            multiSelect: false,
            options: [{ label: 'b', description: '', preview: null }],
          }),
      );
      for (const answer of answers) answer.chosen = [0];
      return () => answersByQuestion(answers);
    },
  ],
];
