// What lies behind the points of a nest, one mark for each, as in workbench/viz/draw/regions.py: a block of threads has a
// thick outline with its index on the upper edge, a tile that is neither a block nor a thread a thin dashed one inside;
// threads are shaded by turns, one of them is hatched and named; a bar runs through what one vector executes at once.

import { divided, example, numbering } from './divided';
import type { Divided, Region } from './divided';
import { s } from '../tools/dom';
import type { Frame } from './frame';
import { Labels, written } from './labels';
import type { Beside, Run } from './labels';
import { firstRun, hatching, outlines, turning } from './outline';
import { role } from '../tools/palette';
import type { XY } from '../tools/geometry';
import type { Mark } from './scene';
import { placed } from './within';

export type Behind = 'block' | 'tile' | 'thread' | 'lane';

const NAMED = 300; // blocks beyond which only the first is named
const INSIDE = 3.2; // pixels between the outline of a tile and that of a block, where places are large
const SHARE = 0.12; // of a place, at most
const HATCH = 8; // pixels between lines
const [THICKEST, THINNEST] = [2.6, 1]; // pixels of the outline of a block
const THICK = 0.09; // of a place

export class Regions {
  readonly hatch = s('g', { class: 'one-thread' });
  readonly labels = s('g', { class: 'labels' });
  private readonly found: Divided;
  private hatched: string | null = null;

  /** Tiles are drawn where points are seen singly. */
  constructor(
    private readonly frame: Frame,
    private readonly single: boolean,
  ) {
    this.found = divided(frame, single);
  }

  /** The kinds that are drawn. */
  get kinds(): Behind[] {
    const { blocks, threads, tiles } = this.found;
    const there: [Behind, boolean][] = [
      ['block', blocks.length > 0],
      ['tile', tiles.length > 0],
      ['thread', threads.length > 0],
      ['lane', this.single && vectors(this.frame).length > 0],
    ];
    return there.flatMap(([kind, is]) => (is ? [kind] : []));
  }

  /** Threads in two shades. */
  shades(): SVGElement[] {
    return this.found.threads.map((thread) => {
      const odd = Math.abs(thread.index.reduce((a, b) => a + b, 0)) % 2;
      return s('path', { class: `thread ${odd ? 'odd' : 'even'}`, d: this.around(thread) });
    });
  }

  /** The statements that have a kind, and whether it is drawn around theirs alone where others stand beside them. */
  of(kind: Behind): { statements: Set<number>; alone: boolean } {
    const { blocks, threads, tiles } = this.found;
    const found = { block: blocks, thread: threads, tile: tiles, lane: [] }[kind];
    return { statements: new Set(found.flatMap(({ statements }) => [...statements])), alone: found.some(({ side }) => side > 1) };
  }

  outlines(): SVGElement[] {
    const { tiles, blocks } = this.found;
    const { unit, data } = this.frame;
    const own = ({ statements }: Region) => (statements.size > 1 ? 'shared' : role(data.number([...statements][0])));
    const thick = (side: number) => Math.max(THINNEST, Math.min(THICKEST, (THICK * unit) / side)).toFixed(1);
    return [
      ...tiles.map((tile) => s('path', { class: `tile ${own(tile)}`, d: this.border(tile, Math.min(SHARE, INSIDE / unit)) })),
      ...blocks.map((block) =>
        s('path', {
          class: block.side > 1 ? `block alone ${own(block)}` : 'block',
          style: `stroke-width:${thick(block.side)}px`,
          d: this.border(block),
        }),
      ),
    ];
  }

  lanes(): SVGElement[] {
    return vectors(this.frame).map(({ number, marks }) => {
      const d = path(marks.map((mark) => this.frame.place(mark)));
      return s('path', { class: `lane ${role(this.frame.data.number(number))}`, d, 'stroke-width': this.frame.unit * 0.55 });
    });
  }

  /** One thread is hatched and named: that of an instance, else the one that stands for all; and its block is. */
  show(statement?: number, row?: number): void {
    const numbers = numbering(this.frame.data);
    const known = statement !== undefined && row !== undefined;
    const [part, block] = known ? [numbers.thread(statement, row), numbers.block(statement, row)] : [null, null];
    const own = part && this.found.threads.find(({ keys }) => keys.has(part.key));
    const region = own ?? example(this.found);
    const label = own ? part.label : (region?.label ?? '');
    const name = `${own ? part.key : ''} ${label} ${block?.key ?? ''}`;
    if (name === this.hatched) return;
    this.hatched = name;
    const side = region?.side ?? 1;
    const lines = region ? hatching(region.parts, Math.max(2, Math.round(this.frame.unit / side / HATCH))) : [];
    const d = lines.map((line) => this.path(side, line)).join('');
    this.hatch.replaceChildren(...(region ? [s('path', { class: 'hatch', d })] : []));
    this.name(region, label, block?.key);
  }

  private path(side: number, corners: XY[]): string {
    return path(corners.map((corner) => this.frame.at(...placed(side, corner))));
  }

  private around({ side, parts }: Region, inside = 0): string {
    return outlines(parts, inside * side)
      .map((corners) => `${this.path(side, corners)}z`)
      .join('');
  }

  /** What is around a region, without the places of others within it. */
  private border(region: Region, inside = 0): string {
    const { side, parts } = region;
    if (side === 1) return this.around(region, inside);
    const outer = outlines(parts, inside * side).filter((corners) => turning(corners) > 0);
    return outer.map((corners) => `${this.path(side, corners)}z`).join('');
  }

  /** Labels stand where they meet none of those before: of blocks the first, that of the lit instance, and all that have room. */
  private name(thread: Region | undefined, words: string, lit?: string): void {
    const labels = new Labels(this.frame);
    const { blocks } = this.found;
    blocks.forEach((block, n) => {
      const wanted = n === 0 || (lit !== undefined && block.keys.has(lit));
      if (!wanted && (blocks.length > NAMED || !labels.roomy(areaOf(block), block.label))) return;
      const named = n === 0 && labels.block(runOf(block), `block ${block.label}`);
      if (!named) labels.block(runOf(block), block.label);
    });
    if (thread) labels.thread(this.beside(thread), words);
    this.labels.replaceChildren(...labels.placed.flatMap(written));
  }

  /** Where a thread may be named: below it only within its own block. */
  private beside(thread: Region): Beside {
    const run = runOf(thread);
    const { high } = this.frame.scene;
    const [x, y] = thread.cells[0];
    const has = ({ cells }: Region, at: XY) => cells.some((cell) => cell[0] === at[0] && cell[1] === at[1]);
    const block = this.found.blocks.find((one) => has(one, [x, y]) && [...thread.statements].every((n) => one.statements.has(n)));
    const last = thread.cells.find((cell) => cell[1] === high[1]);
    const foot =
      last &&
      placed(thread.side, [Math.min(...thread.parts.filter((part) => part[1] >= last[1] * thread.side).map(([a]) => a)) - 0.5, 0])[0];
    return { run, foot, inside: thread.side === 1, lower: !block || has(block, [x, y + 1]) };
  }
}

/** The first parts of a region that lie side by side, in places. */
function runOf({ side, parts }: Region): Run {
  const [left, top, right, bottom] = firstRun(parts);
  return [...placed(side, [left, top]), ...placed(side, [right, bottom])];
}

/** The box around a region, in places. */
function areaOf({ cells }: Region): Run {
  const [x, y] = [cells.map(([a]) => a), cells.map(([, b]) => b)];
  return [Math.min(...x) - 0.5, Math.min(...y) - 0.5, Math.max(...x) + 0.5, Math.max(...y) + 0.5];
}

const path = (points: XY[]): string => `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L')}`;

/** The visible marks of each vector, where it has several. */
function vectors({ data, nest, scene }: Frame): { number: number; marks: Mark[] }[] {
  const found = new Map<string, { number: number; marks: Mark[] }>();
  for (const number of nest.statements) {
    const own = data.domain.statements[number];
    if (!own.kinds.includes('vector')) continue;
    const others = own.kinds.flatMap((kind, i) => (kind === 'vector' ? [] : [i]));
    for (const [row, mark] of scene.byRow[number]) {
      const key = `${number}:${others.map((i) => data.at(own.times, row, i)).join()}`;
      const known = found.get(key);
      if (!known) found.set(key, { number, marks: [mark] });
      else if (known.marks[known.marks.length - 1] !== mark) known.marks.push(mark);
    }
  }
  return [...found.values()].filter(({ marks }) => marks.length > 1);
}
