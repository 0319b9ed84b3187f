// What a plot of one nest shows: marks at integer places, for the chosen axes and sliders.

import type { Data } from '../state/data';
import { spot } from '../tools/geometry';
import type { Nest } from '../state/messages';

export interface Look {
  x: string;
  y: string;
  at: Record<string, number | null>; // dim → value on its slider; null shows all values at once
}

export interface Mark {
  statement: number;
  rows: number[];
  x: number;
  y: number;
  shift: [number, number]; // how far beside the middle of the cell, in cells
}

export interface Scene {
  marks: Mark[];
  byRow: Map<number, Mark>[]; // for each statement of the program: row → mark
  low: [number, number];
  high: [number, number];
  lanes: [Set<number>, Set<number>]; // places that are no values of the axis
  apart: number; // cells between the marks that are nearest to one another
  sharing: number[]; // statements of which several stand in some cell, each in its seat there
}

/** The axes of a nest that was looked at before: where a step changed what a loop counts, the loop is followed. */
export function followed(look: Look, before: Nest | undefined, nest: Nest): Look {
  const axis = (name: string) => {
    const loop = before?.counts[name] ?? name;
    const appeared = Object.keys(nest.counts).find((text) => nest.counts[text] === loop && !before?.axes.includes(text));
    return appeared ?? [name, loop].find((known) => nest.axes.includes(known));
  };
  const [x, y] = [look.x && axis(look.x), look.y && axis(look.y)];
  const fits = x !== undefined && y !== undefined && (x !== y || !x);
  return fits ? { ...look, x, y } : { ...look, x: nest.x, y: nest.y };
}

/** Whether a statement is seen: with an axis of its own, or as the one point that it has. */
export function drawn(data: Data, look: Look, statement: number): boolean {
  const own = data.domain.statements[statement];
  const axes = [look.x, look.y].filter(Boolean);
  return !axes.length || !own.dims.length || axes.some((axis) => data.along(own, axis) !== null);
}

/** Dims of a nest's statements that are not on an axis: each gets a slider where a statement that has it is seen. */
export function sliders(data: Data, nest: Nest, look: Look): string[] {
  const seen = nest.statements.filter((n) => drawn(data, look, n));
  const dims = seen.flatMap((n) => data.domain.statements[n].dims);
  const shown = [look.x, look.y].flatMap((axis) => [axis, nest.counts[axis]]);
  return [...new Set(dims)].filter((d) => !shown.includes(d) && fixed(data, nest, look, d));
}

/** A dim that the loops on the axes count is not held: the points would stand in one column. */
function fixed(data: Data, nest: Nest, look: Look, dim: string): boolean {
  return ![look.x, look.y].some((axis) =>
    nest.statements.some((n) => {
      const own = data.domain.statements[n];
      return !own.dims.includes(axis) && own.loops.includes(axis) && follows(data, n, axis, dim);
    }),
  );
}

function follows(data: Data, statement: number, loop: string, dim: string): boolean {
  const own = data.domain.statements[statement];
  const [value, place] = [data.along(own, loop), data.along(own, dim)];
  if (!value || !place) return false;
  const seen = new Map<string, number>();
  const others = own.dims.filter((d) => d !== dim).map((d) => data.along(own, d)!);
  for (let row = 0; row < own.points[1]; row += 1) {
    const rest = others.map((f) => f(row)).join();
    const known = seen.get(rest);
    if (known === undefined) seen.set(rest, value(row));
    else if (known !== value(row)) return true;
  }
  return false;
}

export function scene(data: Data, nest: Nest, look: Look): Scene {
  const held = new Set(sliders(data, nest, look));
  const byRow: Map<number, Mark>[] = data.domain.statements.map(() => new Map<number, Mark>());
  const marks: Mark[] = [];
  const low: [number, number] = [Infinity, Infinity];
  const high: [number, number] = [-Infinity, -Infinity];
  const lanes: Mark[][] = [[], []];
  for (const number of nest.statements) {
    const own = data.domain.statements[number];
    const [fx, fy] = [data.along(own, look.x), data.along(own, look.y)];
    if (!drawn(data, look, number)) continue;
    const kept = own.dims.filter((d) => held.has(d) && look.at[d] !== null).map((d) => [data.along(own, d)!, look.at[d]!] as const);
    const cells = new Map<number, Mark>();
    for (let row = 0; row < own.points[1]; row += 1) {
      if (!kept.every(([value, at]) => value(row) === at)) continue;
      const [x, y] = [fx ? fx(row) : 0, fy ? fy(row) : 0];
      let mark = cells.get(spot(x, y));
      if (!mark) {
        cells.set(spot(x, y), (mark = { statement: number, rows: [], x, y, shift: [0, 0] }));
        marks.push(mark);
        if (!fx && look.x) lanes[0].push(mark);
        if (!fy && look.y) lanes[1].push(mark);
        if (fx) [low[0], high[0]] = [Math.min(low[0], x), Math.max(high[0], x)];
        if (fy) [low[1], high[1]] = [Math.min(low[1], y), Math.max(high[1], y)];
      }
      mark.rows.push(row);
      byRow[number].set(row, mark);
    }
  }
  for (const i of [0, 1]) if (low[i] > high[i]) [low[i], high[i]] = [0, 0];
  placeLanes(data, nest, lanes, low, high);
  const { apart, sharing } = shiftShared(marks);
  return { marks, byRow, low, high, apart, sharing, lanes: [new Set(lanes[0].map((m) => m.x)), new Set(lanes[1].map((m) => m.y))] };
}

/** A statement without a coordinate on an axis stands before the others there, or after them if it runs later. */
function placeLanes(data: Data, nest: Nest, lanes: Mark[][], low: [number, number], high: [number, number]): void {
  const first = (n: number) => {
    const { when } = data.domain.statements[n];
    return when[1] ? data.at(when, 0, 0) : 0;
  };
  lanes.forEach((marks, i) => {
    if (!marks.length) return;
    const beside = new Set(marks.map((m) => m.statement));
    const others = nest.statements.filter((n) => !beside.has(n)).map(first);
    const places = { before: low[i] - 1, after: high[i] + 1 };
    for (const mark of marks) {
      const place = !others.length || first(mark.statement) <= Math.min(...others) ? places.before : places.after;
      if (i === 0) mark.x = place;
      else mark.y = place;
      [low[i], high[i]] = [Math.min(low[i], place), Math.max(high[i], place)];
    }
  });
}

const ROW = 3; // statements of a cell that stand on its diagonal; more stand in a square

/** How many seats a cell has each way where so many statements share cells. */
export const seats = (count: number): number => (count > ROW ? Math.ceil(Math.sqrt(count)) : Math.max(1, count));

/** The column and the row of the seat that the statement at a place of those that share cells has. */
export const seat = (place: number, count: number): [number, number] =>
  count > ROW ? [place % seats(count), Math.floor(place / seats(count))] : [place, place];

/** Statements that share cells move apart, so that no mark covers another; how far, in cells. */
function shiftShared(marks: Mark[]): { apart: number; sharing: number[] } {
  if (marks.every((m) => m.statement === marks[0].statement)) return { apart: 1, sharing: [] };
  const cells = new Map<number, Set<number>>();
  for (const m of marks) {
    const key = spot(m.x, m.y);
    cells.set(key, (cells.get(key) ?? new Set()).add(m.statement));
  }
  const found = new Set<number>();
  for (const own of cells.values()) if (own.size > 1) own.forEach((n) => found.add(n));
  const sharing = [...found].sort((a, b) => a - b);
  if (!sharing.length) return { apart: 1, sharing };
  const side = seats(sharing.length);
  const step = Math.min(0.38, 0.84 / side);
  const middle = (side - 1) / 2;
  for (const m of marks) {
    const place = sharing.indexOf(m.statement);
    const [column, row] = seat(place, sharing.length);
    if (place >= 0) m.shift = [(column - middle) * step, (row - middle) * step];
  }
  return { apart: sharing.length > ROW ? step : step * Math.SQRT2, sharing };
}
