// What a region has of places in which statements of other loops stand too: the parts around its own, and between them.

import type { Frame } from './frame';
import { spot } from '../tools/geometry';
import type { XY } from '../tools/geometry';
import { seat, seats } from './scene';

/** Places that belong together, of one part or of several that are seen at the same places. */
export interface Region {
  loops: string;
  keys: Set<string>;
  index: number[];
  label: string;
  statements: Set<number>;
  cells: XY[];
  side: number; // parts of a place each way, where it has only some of them
  parts: XY[]; // what it has of its places
}

/** Regions as they are drawn: where one of some loops would lie under another's statements, all of these loops are cut. */
export function withoutOthers(frame: Frame, regions: Region[]): Region[] {
  const others = ({ statements, cells }: Region) => cells.some((at) => frame.standing(at).some((m) => !statements.has(m.statement)));
  const cut = new Set(regions.flatMap((region) => (others(region) ? [region.loops] : [])));
  return cut.size ? regions.map((region) => (cut.has(region.loops) ? within(frame, region) : region)) : regions;
}

function within(frame: Frame, region: Region): Region {
  const { sharing } = frame.scene;
  const side = seats(sharing.length);
  const own = new Set(region.cells.map(([x, y]) => spot(x, y)));
  const parts = region.cells.flatMap(([x, y]): XY[] => {
    const has = (dx: number, dy: number) => own.has(spot(x + dx, y + dy));
    const standing = frame
      .standing([x, y])
      .map(({ statement }) => ({ mine: region.statements.has(statement), at: seat(sharing.indexOf(statement), sharing.length) }));
    const taken = new Set(standing.flatMap(({ mine, at }) => (mine ? [] : [spot(...at)])));
    const seen = standing.flatMap(({ mine, at }) => (mine && at[0] >= 0 ? [at] : []));
    const reach = (axis: 0 | 1, before: boolean, after: boolean): [number, number] => [
      before || !seen.length ? 0 : Math.min(...seen.map((at) => at[axis])),
      after || !seen.length ? side - 1 : Math.max(...seen.map((at) => at[axis])),
    ];
    const [columns, rows] = [reach(0, has(-1, 0), has(1, 0)), reach(1, has(0, -1), has(0, 1))];
    const found: XY[] = [];
    for (let row = rows[0]; row <= rows[1]; row += 1)
      for (let column = columns[0]; column <= columns[1]; column += 1)
        if (!taken.has(spot(column, row))) found.push([x * side + column, y * side + row]);
    return found;
  });
  return { ...region, side, parts };
}

/** A place, with its fractions, of a corner of parts. */
export const placed = (side: number, [x, y]: XY): XY => [(x + 0.5) / side - 0.5, (y + 0.5) / side - 0.5];
