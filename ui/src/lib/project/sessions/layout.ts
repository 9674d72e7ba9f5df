// The places of the rows of a long session list. Only those near the visible part are drawn.

import { hasDetails, rowId, type Group, type Row } from '../../session/sessionRows';

/** Heights in CSS pixels. They fit the texts of `SessionRow`, with one line or two. */
export const HEADING = 30;
const ONE_LINE = 28;
export const TWO_LINES = 44;

/** How far beyond the visible part rows are drawn, in CSS pixels. */
const BEYOND = 600;

/** The height that is assumed before the list was measured. */
const ASSUMED = 800;

interface Place {
  readonly row: Row;
  /** Counted from 0, in the whole list and in the group. */
  readonly nr: number;
  readonly nrInGroup: number;
  readonly group: number;
  readonly top: number;
  readonly height: number;
}

export interface Layout {
  readonly groups: readonly Group[];
  readonly places: readonly Place[];
  readonly height: number;
}

function heightOf(row: Row, unread: ReadonlySet<string>): number {
  try {
    return hasDetails(row, unread.has(rowId(row))) ? TWO_LINES : ONE_LINE;
  } catch {
    // A row that cannot be drawn shows that itself.
    return TWO_LINES;
  }
}

/** `heights`: those of rows that keep the height they had. */
export function layoutOf(
  groups: readonly Group[],
  unread: ReadonlySet<string>,
  heights: ReadonlyMap<string, number> = new Map(),
): Layout {
  const places: Place[] = [];
  let top = 0;
  for (const [group, { rows }] of groups.entries()) {
    top += HEADING;
    for (const [nrInGroup, row] of rows.entries()) {
      const height = heights.get(rowId(row)) ?? heightOf(row, unread);
      places.push({ row, nr: places.length, nrInGroup, group, top, height });
      top += height;
    }
  }
  return { groups, places, height: top };
}

/**
 * The rows of an earlier layout in their places, as they are now. Those that are gone leave theirs, new ones are left out:
 * no row moves.
 */
export function inPlaces(earlier: Layout, now: Layout, unread: ReadonlySet<string>): Layout {
  // A stored conversation that was opened is a session, with another id.
  const rows = new Map(now.places.flatMap(({ row }) => idsOf(row).map((id) => [id, row])));
  const rowNow = (row: Row) => idsOf(row).flatMap((id) => rows.get(id) ?? [])[0];
  const groups = earlier.groups
    .map(({ name, rows }) => ({ name, rows: rows.flatMap((row) => rowNow(row) ?? []) }))
    .filter((group) => group.rows.length > 0);
  const heights = new Map(earlier.places.map(({ row, height }) => [rowId(rowNow(row) ?? row), height]));
  return layoutOf(groups, unread, heights);
}

const idsOf = ({ session, stored }: Row): string[] =>
  [session?.id, session?.agentSessionId, stored?.agentSessionId].filter((id) => typeof id === 'string');

/** The first row that ends below `y`. */
function rowAt(places: readonly Place[], y: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = places[middle];
    if (place !== undefined && place.top + place.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Part {
  name: string;
  size: number;
  /** Its heading is drawn, too. */
  hasHeading: boolean;
  places: Place[];
}

/** The rows to draw, by group, and the space above them. */
export function visible({ groups, places }: Layout, top: number, height: number): { above: number; parts: Part[] } {
  const first = rowAt(places, top - BEYOND);
  const end = rowAt(places, top + (height || ASSUMED) + BEYOND) + 1;
  const parts: Part[] = [];
  for (const place of places.slice(first, end)) {
    const group = groups[place.group];
    if (group === undefined) continue;
    const hasHeading = place.nrInGroup === 0;
    const last = parts.at(-1);
    if (last === undefined || hasHeading) {
      parts.push({ name: group.name, size: group.rows.length, hasHeading, places: [place] });
    } else last.places.push(place);
  }
  const [place] = parts[0]?.places ?? [];
  return { above: place === undefined ? 0 : place.top - (parts[0]?.hasHeading ? HEADING : 0), parts };
}
