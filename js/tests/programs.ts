// Small programs as the kernel would send them, made from lists of instances.

import { Data } from '../src/state/data';
import type { Access, Code, Domain, Kind, Line, Nest, Statement, Table, TreeNode } from '../src/state/messages';

export interface Told {
  name?: string;
  number?: number;
  cost?: number;
  dims?: string[];
  points: number[][];
  loops?: string[];
  numbers?: number[];
  kinds?: string[];
  counts?: string[];
  tiled?: number;
  times?: number[][];
  when?: number[];
  accesses?: { array: string; kind: Access['kind']; cells?: number[][] }[];
}

export interface ToldArrow {
  kind: Kind;
  array: string;
  source: number;
  target: number;
  pairs: number[][];
}

/** The data of statements whose loops are their dims where nothing else is said, the same of the same name, in one nest on the first two. */
export function program(told: Told[], arrows: ToldArrow[] = [], nest: Partial<Nest> = {}): Data {
  const numbers: number[] = [];
  const table = (rows: number[][], columns: number): Table => {
    const place: Table = [numbers.length, rows.length, columns];
    numbers.push(...rows.flat());
    return place;
  };
  let next = 0;
  const known = [...new Set(told.flatMap(({ loops, dims, points }) => loops ?? dims ?? ['i', 'j', 'k'].slice(0, points[0]?.length ?? 0)))];
  const statements = told.map((one, number): Statement => {
    const dims = one.dims ?? ['i', 'j', 'k'].slice(0, one.points[0]?.length ?? 0);
    const loops = one.loops ?? dims;
    return {
      name: one.name ?? `S${number}`,
      number: one.number ?? number,
      cost: one.cost ?? one.points.length,
      dims,
      does: '',
      loops,
      numbers: one.numbers ?? loops.map((name) => known.indexOf(name)),
      kinds: one.kinds ?? loops.map(() => 'serial'),
      counts: one.counts ?? loops.map(() => ''),
      plain: loops.map(() => true),
      tiled: one.tiled ?? 0,
      points: table(one.points, dims.length),
      times: table(one.times ?? one.points, loops.length),
      when: table(one.when?.map((at) => [at]) ?? one.points.map(() => [next++]), 1),
      accesses: (one.accesses ?? []).map(({ array, kind, cells }) => ({
        array,
        kind,
        ...(cells && { cells: table(cells, cells[0].length) }),
      })),
    };
  });
  const axes = [...new Set(statements.flatMap((s) => [...s.dims, ...s.loops]))];
  const whole: Nest = { statements: statements.map((_, n) => n), x: axes[0] ?? '', y: axes[1] ?? '', axes, counts: {}, ...nest };
  const domain: Domain = {
    arrays: {},
    marks: {},
    scale: { data: 1, row: 1 },
    notes: [],
    sizes: {},
    statements,
    nests: [whole],
    arrows: arrows.map((arrow) => ({ ...arrow, pairs: table(arrow.pairs, 2) })),
  };
  return new Data(domain, new DataView(Int32Array.from(numbers).buffer));
}

/** Points of a box, the last dim fastest. */
export function box(...extents: number[]): number[][] {
  return extents.reduce<number[][]>((rows, extent) => rows.flatMap((row) => Array.from({ length: extent }, (_, i) => [...row, i])), [[]]);
}

export function node(type: TreeNode['type'], name: string, statements: string[], children: TreeNode[] = []): TreeNode {
  return { id: `${type} ${name}`, type, name, detail: '', statements, children };
}

/** A text with one loop line above one line of each statement. */
export function code(lines: [text: string, statements: string[], loop?: string][], start = 0): Code {
  const made = lines.map(([text, statements, loop = ''], i): Line => ({ number: i + 1, runs: [[text, '', false]], statements, loop }));
  return { lines: made, start, notes: [], language: 'C', reason: '' };
}
