// Which block, which thread and which tile the instances of a picture belong to: places with the same one are a region.

import type { Data } from '../state/data';
import type { Frame } from './frame';
import { spot } from '../tools/geometry';
import { inRows } from './outline';
import type { Statement } from '../state/messages';
import { withoutOthers } from './within';
import type { Region } from './within';

export type { Region } from './within';

const MOST = 2000; // regions of a kind beyond which they say nothing any more: none is drawn

/** What an instance belongs to, in loops of its own; `index` is that of a block or a thread, counted from the first. */
interface Part {
  loops: string;
  key: string;
  index: number[];
  label: string;
}

/** A loop that is bound: its place among a statement's loops, and the numbers of those down to it. */
interface Bound {
  at: number;
  around: string;
}

/** The loops of a statement that say its block, its thread and its tile. */
interface Columns {
  host: number[]; // serial loops around the blocks: each iteration has blocks of its own
  block: Bound[]; // x before y before z
  thread: Bound[];
  shared: number[]; // parallel loops
  own: string; // the loops that say so: statements in other ones have blocks and threads of their own
}

const words = (index: number[]): string => (index.length ? `(${index.join()})` : '');

function columns({ kinds, numbers }: Statement): Columns {
  const bound = (what: string): Bound[] =>
    ['x', 'y', 'z']
      .map((axis) => kinds.indexOf(`${what}.${axis}`))
      .flatMap((at) => (at < 0 ? [] : [{ at, around: numbers.slice(0, at + 1).join() }]));
  const [block, thread] = [bound('block'), bound('thread')];
  const inner = Math.max(0, ...block.map(({ at }) => at));
  const of = (wanted: (kind: string, i: number) => boolean) => kinds.flatMap((kind, i) => (wanted(kind, i) ? [i] : []));
  const host = of((kind, i) => i < inner && (kind === 'serial' || kind === 'unroll'));
  const shared = of((kind) => kind === 'parallel');
  const outer = [...host, ...block.map(({ at }) => at), ...shared];
  const first = Math.min(...thread.map(({ at }) => at));
  const own = (outer.length ? outer : thread.length ? [first] : []).map((i) => numbers[i]).join();
  return { host, block, thread, shared, own };
}

/** The block, the thread and the tile of an instance: a statement has them for all of its instances, or for none. */
export class Numbering {
  private readonly lowest = new Map<string, number>();
  private readonly columns: Columns[];

  constructor(private readonly data: Data) {
    this.columns = data.domain.statements.map(columns);
    data.domain.statements.forEach((own, number) => {
      const { block, thread } = this.columns[number];
      for (const loop of [...block, ...thread]) for (let row = 0; row < own.points[1]; row += 1) this.count(own, loop, row);
    });
  }

  /** A loop that is bound begins anywhere in each iteration of those outside; its index is 0 there. */
  private count(own: Statement, loop: Bound, row: number): void {
    const [key, value] = [this.outside(own, loop, row), this.data.at(own.times, row, loop.at)];
    this.lowest.set(key, Math.min(value, this.lowest.get(key) ?? value));
  }

  private outside(own: Statement, { at, around }: Bound, row: number): string {
    const start = own.times[0] + row * own.times[2];
    return `${around}:${this.data.numbers.subarray(start, start + at).join()}`;
  }

  private at(own: Statement, row: number, places: number[]): number[] {
    return places.map((i) => this.data.at(own.times, row, i));
  }

  private index(own: Statement, row: number, loops: Bound[]): number[] {
    return loops.map((loop) => this.data.at(own.times, row, loop.at) - this.lowest.get(this.outside(own, loop, row))!);
  }

  block(number: number, row: number): Part | null {
    const [own, { host, block, own: loops }] = [this.data.domain.statements[number], this.columns[number]];
    if (!block.length) return null;
    const index = this.index(own, row, block);
    return { loops, key: `${loops}:${this.at(own, row, host).join()}:${index.join()}`, index, label: words(index) };
  }

  /** The thread of a block, or of parallel loops; none where each block has one. */
  thread(number: number, row: number): Part | null {
    const [own, { thread, shared, own: loops, host, block }] = [this.data.domain.statements[number], this.columns[number]];
    if (!thread.length && !shared.length) return null;
    const [index, parallel] = [this.index(own, row, thread), this.at(own, row, shared)];
    const named = shared.map((i, n) => `${own.loops[i]}=${parallel[n]}`).join(', ');
    const key = [loops, this.at(own, row, host), this.index(own, row, block), parallel, index].map(String).join(':');
    return { loops, key, index: [...parallel, ...index], label: ['thread', named, words(index)].filter(Boolean).join(' ') };
  }

  tile(number: number, row: number): Part | null {
    const own = this.data.domain.statements[number];
    if (!own.tiled) return null;
    const index = Array.from({ length: own.tiled }, (_, i) => this.data.at(own.times, row, i));
    const loops = own.numbers.slice(0, own.tiled).join();
    return { loops, key: `${loops}:${index.join()}`, index, label: '' };
  }
}

const numberings = new WeakMap<Data, Numbering>();

/** The numbering of all instances, worked out once for all pictures of them. */
export function numbering(data: Data): Numbering {
  const known = numberings.get(data) ?? new Numbering(data);
  numberings.set(data, known);
  return known;
}

/** The regions of a picture; none of a kind of which there are too many. */
export interface Divided {
  blocks: Region[];
  threads: Region[]; // none where there is one in all
  tiles: Region[]; // that are neither blocks nor threads
}

export function divided(frame: Frame, tiled = true): Divided {
  const numbers = numbering(frame.data);
  const inOrder = (a: Region, b: Region) => a.index.reduceRight((known, value, i) => known || value - b.index[i], 0);
  const blocks = joined(grouped(frame, (number, row) => numbers.block(number, row)).sort(inOrder));
  const all = joined(grouped(frame, (number, row) => numbers.thread(number, row)));
  const threads = all.length > 1 ? all : [];
  const parts = tiled ? joined(grouped(frame, (number, row) => numbers.tile(number, row))) : [];
  const several = parts.length > 1 && parts.some(({ cells }) => cells.length > 1);
  const known = [...blocks, ...threads].map((region) => [placesOf(region), region.statements] as const);
  const marked = (tile: Region) =>
    known.some(([places, own]) => places === placesOf(tile) && [...tile.statements].every((n) => own.has(n)));
  const tiles = several ? parts.filter((tile) => !marked(tile)) : [];
  return { blocks: withoutOthers(frame, blocks), threads: withoutOthers(frame, threads), tiles: withoutOthers(frame, tiles) };
}

/** The thread that stands for all: the first of those with the most places. */
export const example = ({ threads }: Divided): Region | undefined =>
  threads.reduce<Region | undefined>((best, one) => (best && best.cells.length >= one.cells.length ? best : one), undefined);

function grouped(frame: Frame, part: (number: number, row: number) => Part | null): Region[] {
  const found = new Map<string, Region & { places: Set<number> }>();
  for (const number of frame.nest.statements) {
    for (const [row, mark] of frame.scene.byRow[number]) {
      const own = part(number, row);
      if (!own) break;
      const { loops, key, index, label } = own;
      const fresh = { loops, keys: new Set([key]), index, label, statements: new Set<number>(), cells: [], places: new Set<number>() };
      const region = found.get(key) ?? { ...fresh, side: 1, parts: [] };
      found.set(key, region);
      if (found.size > MOST) return [];
      region.statements.add(number);
      const place = spot(mark.x, mark.y);
      if (!region.places.has(place)) region.cells.push([mark.x, mark.y]);
      region.places.add(place);
    }
  }
  return [...found.values()].map((region) => ({ ...region, cells: inRows(region.cells), parts: region.cells }));
}

const placesOf = ({ cells }: Region): string => cells.map(([x, y]) => spot(x, y)).join();

/** Regions of the same loops at the same places are one, with the first label and the last: behind a place may stand instances of several. */
function joined(regions: Region[]): Region[] {
  const found = new Map<string, Region[]>();
  for (const region of regions) {
    const places = `${region.loops}:${placesOf(region)}`;
    const known = found.get(places);
    if (known) known.push(region);
    else found.set(places, [region]);
  }
  return [...found.values()].map((same) => {
    const [first, last] = [same[0], same[same.length - 1]];
    const label = last.label === first.label ? first.label : `${first.label} … ${last.label.replace(/^thread /, '')}`;
    const union = <T>(of: (region: Region) => Set<T>) => new Set(same.flatMap((region) => [...of(region)]));
    return { ...first, label, keys: union(({ keys }) => keys), statements: union(({ statements }) => statements) };
  });
}
