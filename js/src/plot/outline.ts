// Borders of cells and lines through them, in cells; workbench/viz/draw/regions.py draws the same.

import { spot } from '../tools/geometry';
import type { XY } from '../tools/geometry';

// The neighbour behind each edge of a cell, and the ends of the edge, as corners: clockwise, as y runs down.
const EDGES: [neighbour: XY, start: XY, end: XY][] = [
  [[0, -1], [0, 0], [1, 0]], // prettier-ignore
  [[1, 0], [1, 0], [1, 1]], // prettier-ignore
  [[0, 1], [1, 1], [0, 1]], // prettier-ignore
  [[-1, 0], [0, 1], [0, 0]], // prettier-ignore
];

/** Cells from the top to the bottom, in a row from the left to the right. */
export const inRows = (cells: XY[]): XY[] => [...cells].sort((a, b) => a[1] - b[1] || a[0] - b[0]);

/** Corners of the borders of some cells, each clockwise around what is its own, so much further inside. */
export function outlines(cells: XY[], inside = 0): XY[][] {
  const own = new Set(cells.map(([x, y]) => spot(x, y)));
  const after = new Map<number, XY[]>();
  const corners: XY[] = [];
  for (const [x, y] of inRows(cells)) {
    for (const [[dx, dy], start, end] of EDGES) {
      if (own.has(spot(x + dx, y + dy))) continue;
      const from: XY = [x + start[0], y + start[1]];
      const known = after.get(spot(...from));
      if (known) known.push([x + end[0], y + end[1]]);
      else after.set(spot(...from), [[x + end[0], y + end[1]]]);
      corners.push(from);
    }
  }
  return corners.flatMap((corner) => (after.has(spot(...corner)) ? [moved(walk(after, corner), inside)] : []));
}

/** One border, edge by edge, which are taken away; where two meet in a corner it stays with its cell. */
function walk(after: Map<number, XY[]>, start: XY): XY[] {
  const route: XY[] = [start];
  let [before, at] = [start, taken(after, start)];
  while (at[0] !== start[0] || at[1] !== start[1]) {
    route.push(at);
    const turned: XY = [at[0] - (at[1] - before[1]), at[1] + (at[0] - before[0])];
    [before, at] = [at, taken(after, at, turned)];
  }
  return route;
}

function taken(after: Map<number, XY[]>, corner: XY, wanted?: XY): XY {
  const ends = after.get(spot(...corner))!;
  const place = wanted ? ends.findIndex(([x, y]) => x === wanted[0] && y === wanted[1]) : 0;
  const [end] = ends.splice(Math.max(0, place), 1);
  if (!ends.length) after.delete(spot(...corner));
  return end;
}

/** The corners in which a border turns, from the middles of cells. */
function moved(corners: XY[], inside: number): XY[] {
  return corners.flatMap(([x, y], i): XY[] => {
    const [x0, y0] = corners[(i + corners.length - 1) % corners.length];
    const [x1, y1] = corners[(i + 1) % corners.length];
    if (x - x0 === x1 - x && y - y0 === y1 - y) return [];
    return [[x - 0.5 + inside * (-(y - y0) - (y1 - y)), y - 0.5 + inside * (x - x0 + (x1 - x))]];
  });
}

/** Slanted lines through some cells, so many in each direction of a cell. */
export function hatching(cells: XY[], each: number): [XY, XY][] {
  return cells.flatMap(([x, y]) => {
    const lines: [XY, XY][] = [];
    for (let n = Math.floor((x + y - 1) * each) + 1; n < (x + y + 1) * each; n += 1) {
      const c = n / each;
      const [left, right] = [Math.max(x - 0.5, c - y - 0.5), Math.min(x + 0.5, c - y + 0.5)];
      lines.push([[left, c - left], [right, c - right]]); // prettier-ignore
    }
    return lines;
  });
}

/** Left, top, right and bottom of the first cells that lie side by side. */
export function firstRun(cells: XY[]): [number, number, number, number] {
  const sorted = inRows(cells);
  const [x, y] = sorted[0];
  let right = x;
  for (const [a, b] of sorted) if (b === y && a === right + 1) right = a;
  return [x - 0.5, y - 0.5, right + 0.5, y + 0.5];
}

/** Twice the area within a border: less than 0 where it goes around what is not its own. */
export const turning = (corners: XY[]): number =>
  corners.reduce((sum, [x, y], i) => sum + x * corners[(i + 1) % corners.length][1] - corners[(i + 1) % corners.length][0] * y, 0);
