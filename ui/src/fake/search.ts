// A search without the desktop app: a few sessions, filtered by the words of the query.

import type { FoundSession, SearchChange, SearchHit, SnippetPart } from '../lib/bindings/api';
import { START } from './facts';

const HOUR = 60 * 60_000;

function found(id: string, title: string, project: string, hoursAgo: number, hits: SearchHit[]): FoundSession {
  const changedAt = START - hoursAgo * HOUR;
  const facts = { agentSessionId: id, title, project: `/home/ines/${project}`, projectName: project };
  return { ...facts, changedAt, hits, hasMore: false, inOtherWindow: false, profile: null };
}

function hit(itemId: string | null, place: SearchHit['place'], text: string, tool: string | null = null): SearchHit {
  return { itemId, place, tool, at: START - HOUR, snippet: [{ text, isMatch: false }] };
}

/** The sessions that a search may find. */
export const SEARCHED: readonly FoundSession[] = [
  found('s1', 'Round half to even in totals', 'ledger', 1, [
    hit('i2', 'call', 'cargo test money::rounding', 'Bash'),
    hit('i1', 'prompt', 'Totals are off by a cent. Round half to even, please, and add a test.'),
  ]),
  found('t1', 'Import the bank’s CSV files', 'ledger', 30, [
    hit('t1.0', 'text', 'The test fixtures use a comma as decimal sign, so the rounding is never reached.'),
    hit(null, 'title', 'Import the bank’s CSV files'),
  ]),
  found('t2', 'Nightly export is empty', 'exporter', 80, [
    hit('o1', 'output', 'test export::nightly ... FAILED', 'Bash'),
  ]),
];

function marked(text: string, words: readonly string[]): SnippetPart[] {
  const lower = text.toLowerCase();
  const [at, word] = words.map((word) => [lower.indexOf(word), word] as const).find(([at]) => at >= 0) ?? [0, ''];
  const end = at + word.length;
  const parts = [
    { text: text.slice(0, at), isMatch: false },
    { text: text.slice(at, end), isMatch: true },
    { text: text.slice(end), isMatch: false },
  ];
  return parts.filter((part) => part.text !== '');
}

/** More sessions than a search shows at first, found by “line” and “lines”. */
const MANY: readonly FoundSession[] = Array.from({ length: 50 }, (_, i) =>
  found(`m${i}`, `Count the lines of file ${i + 1}`, 'ledger', 90 + i, [
    hit(`m${i}`, 'prompt', `How many lines has file ${i + 1}?`),
  ]),
);
const NEWEST = 25;

/** The result of a search to its end, or as far as the newest sessions; `null` if there is nothing to search for. */
export function searchFound(query: string, all: boolean, toTheEnd = true): SearchChange | null {
  const words = query.toLowerCase().replaceAll('"', '').split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const textOf = (hit: SearchHit) => hit.snippet.map((part) => part.text).join('');
  const fits = (hit: SearchHit) => words.every((word) => textOf(hit).toLowerCase().includes(word));
  const sessions = [...SEARCHED, ...MANY]
    .filter(({ projectName }) => all || projectName === 'ledger')
    .map((session) => ({
      ...session,
      hits: session.hits.filter(fits).map((hit) => ({ ...hit, snippet: marked(textOf(hit), words) })),
    }));
  const fitting = sessions.filter(({ hits }) => hits.length > 0);
  const nShown = toTheEnd ? fitting.length : NEWEST;
  return {
    found: fitting.slice(0, nShown),
    nSearched: SEARCHED.length,
    nFiles: SEARCHED.length,
    nUnreadable: 0,
    nLeftOut: 0,
    isCut: fitting.length > nShown,
    isComplete: true,
    problem: null,
  };
}
