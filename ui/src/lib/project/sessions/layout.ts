// The places of the rows of a long session list. Only those near the visible part are drawn.

import { hasDetails, rowId, rowTitle, type Group, type Row } from '../../session/sessionRows';
import { titleLines } from './titleLines';

/** Heights in CSS pixels. They fit the texts of `SessionRow`: a title of one line, what a second adds, and the details. */
export const HEADING = 30;
export const ONE_LINE = 28;
const TITLE_LINE = 17;
const DETAILS = 16;

/** The width beside the title of a row: margins, mark and time. */
const BESIDE_TITLE = 96;

/** The room and the facts that the list has for its rows. */
export interface ListSpace {
  /** The width of the list, in CSS pixels. */
  readonly width: number;
  /** The project's branch, which no row repeats. */
  readonly branch: string | null;
}

/** The lines of a row. */
export interface RowShape {
  readonly title: 1 | 2;
  readonly details: boolean;
}

/** How far beyond the visible part rows are drawn, in CSS pixels. */
const BEYOND = 600;

/** The height and the width that are assumed before the list was measured, in CSS pixels. */
const ASSUMED = 800;
const ASSUMED_WIDTH = 264;

interface Place {
  readonly row: Row;
  /** Counted from 0, in the whole list and in the group. */
  readonly nr: number;
  readonly nrInGroup: number;
  readonly group: number;
  readonly top: number;
  readonly height: number;
  readonly shape: RowShape;
}

export interface Layout {
  readonly groups: readonly Group[];
  readonly places: readonly Place[];
  readonly height: number;
}

function shapeOf(row: Row, unread: ReadonlySet<string>, { width, branch }: ListSpace): RowShape {
  try {
    const title = titleLines(rowTitle(row), (width || ASSUMED_WIDTH) - BESIDE_TITLE);
    return { title, details: hasDetails(row, unread.has(rowId(row)), branch) };
  } catch {
    // A row that cannot be drawn shows that itself.
    return { title: 1, details: true };
  }
}

const heightOf = ({ title, details }: RowShape) => ONE_LINE + (title === 2 ? TITLE_LINE : 0) + (details ? DETAILS : 0);

/** `shapes`: those of rows that keep the one they had. */
export function layoutOf(
  groups: readonly Group[],
  unread: ReadonlySet<string>,
  space: ListSpace,
  shapes: ReadonlyMap<string, RowShape> = new Map(),
): Layout {
  const places: Place[] = [];
  let top = 0;
  for (const [group, { rows }] of groups.entries()) {
    top += HEADING;
    for (const [nrInGroup, row] of rows.entries()) {
      const shape = shapes.get(rowId(row)) ?? shapeOf(row, unread, space);
      const height = heightOf(shape);
      places.push({ row, nr: places.length, nrInGroup, group, top, height, shape });
      top += height;
    }
  }
  return { groups, places, height: top };
}

/**
 * The rows of an earlier layout in their places, as they are now. Those that are gone leave theirs, new ones are left out:
 * no row moves.
 */
export function inPlaces(earlier: Layout, now: Layout, unread: ReadonlySet<string>, space: ListSpace): Layout {
  // A stored conversation that was opened is a session, with another id.
  const rows = new Map(now.places.flatMap(({ row }) => idsOf(row).map((id) => [id, row])));
  const rowNow = (row: Row) => idsOf(row).flatMap((id) => rows.get(id) ?? [])[0];
  const groups = earlier.groups
    .map(({ name, rows }) => ({ name, rows: rows.flatMap((row) => rowNow(row) ?? []) }))
    .filter((group) => group.rows.length > 0);
  const shapes = new Map(earlier.places.map(({ row, shape }) => [rowId(rowNow(row) ?? row), shape]));
  return layoutOf(groups, unread, space, shapes);
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
