// Entries of the palette: every action of the table, each choice of an action, and every session.

import type { Action, Desk } from '../actions/action';
import { chordShown, labelOf, ownTarget } from '../actions/perform';
import { ACTIONS } from '../actions/table';
import { rowId, rowTitle, wordsOf, type Row } from '../../session/sessionRows';

export interface Entry {
  id: string;
  label: string;
  /** Additional search text, shown next to the label. */
  detail?: string | undefined;
  /** Additional search text that is not shown. */
  words?: string | undefined;
  key?: string | undefined;
  /** Why it is not available now. Such an entry is shown only if it was searched for. */
  off?: string | null;
  run: () => void;
}

function entriesOf(desk: Desk, action: Action): Entry[] {
  const on = ownTarget(desk, action);
  if (action.isAbsent?.(desk, on) === true) return [];
  const off = action.off?.(desk, on) ?? null;
  const { id, does } = action;
  const key = chordShown(action);
  const label = labelOf(desk, action, on);
  if ('run' in does) return [{ id, label, key, off, run: () => does.run(desk, on) }];
  if (off !== null) return [{ id, label, key, off, run: () => {} }];
  return does.choices(desk, on).map((choice) => ({
    id: `${id}-${choice.id}`,
    label: `${label}: ${choice.label}`,
    detail: choice.detail ?? (choice.isCurrent === true ? 'current' : undefined),
    key,
    run: choice.run,
  }));
}

const sessionEntry = (desk: Desk, row: Row): Entry => ({
  id: `session-${rowId(row)}`,
  label: rowTitle(row),
  detail: 'Session',
  words: [row.stored?.branch, row.stored?.firstPrompt, row.stored?.lastPrompt].filter(Boolean).join(' '),
  run: () => desk.openRow(row),
});

/** All entries: actions in the order of the table, then sessions, then what else can be done with a session by its name. */
export function allEntries(desk: Desk): Entry[] {
  const actions = ACTIONS.filter((action) => action.isKeyOnly !== true && action.id !== 'palette');
  const entries = (ofSessions: boolean) =>
    actions
      .filter((action) => (action.choosesSession === true) === ofSessions)
      .flatMap((action) => entriesOf(desk, action));
  return [...entries(false), ...desk.project.rows.map((row) => sessionEntry(desk, row)), ...entries(true)];
}

/**
 * Returns the entries that match every word of `query`. Those that start with its first word come first, then the ones
 * in `recent`, most recently used first. What is not available comes last.
 */
export function matching(entries: readonly Entry[], query: string, recent: readonly string[] = []): Entry[] {
  const words = wordsOf(query);
  const first = words[0];
  const fits = entries.filter((entry) => {
    if (first === undefined) return (entry.off ?? null) === null;
    const text = `${entry.label} ${entry.detail ?? ''} ${entry.words ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const places = new Map(recent.map((id, i) => [id, i]));
  const rank = (entry: Entry) => {
    const isOff = (entry.off ?? null) !== null ? 2 : 0;
    const begins = first !== undefined && !entry.label.toLowerCase().startsWith(first) ? 1 : 0;
    return (isOff + begins) * (places.size + 1) + (places.get(entry.id) ?? places.size);
  };
  return fits
    .map((entry) => ({ entry, rank: rank(entry) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}
