// What lies behind the points of a nest, one mark for each, as in workbench/viz/draw/regions.py: a block of threads has a
// thick outline with its index on the upper edge, a tile that is neither a block nor a thread a thin dashed one inside;
// threads are shaded by turns, one of them is hatched and named; a bar runs through what one vector executes at once.

import { divided, example, numbering } from './divided';
import type { Divided, Region } from './divided';
import { s } from './dom';
import type { Frame } from './frame';
import { firstRun, hatching, outlines } from './outline';
import { role } from './palette';
import type { XY } from './geometry';
import type { Mark } from './scene';

export type Behind = 'block' | 'tile' | 'thread' | 'lane';

const NAMED = 300; // blocks beyond which only the thread is named
const INSIDE = 3.2; // pixels between the outline of a tile and that of a block, where places are large
const SHARE = 0.12; // of a place, at most
const HATCH = 8; // pixels between lines
const LETTERS = 10; // pixels, where places are at least twice as high
const SMALLEST = 7.5;
const WIDTH = 0.58; // of a letter, of its height
const ROOM = 2; // pixels around a label

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
    return this.found.threads.map(({ index, cells }) => {
      const odd = Math.abs(index.reduce((a, b) => a + b, 0)) % 2;
      return s('path', { class: `thread ${odd ? 'odd' : 'even'}`, d: this.around(cells) });
    });
  }

  outlines(): SVGElement[] {
    const { tiles, blocks } = this.found;
    const own = ({ statements }: Region) => (statements.size > 1 ? 'shared' : role(this.frame.data.number([...statements][0])));
    return [
      ...tiles.map((tile) =>
        s('path', { class: `tile ${own(tile)}`, d: this.around(tile.cells, Math.min(SHARE, INSIDE / this.frame.unit)) }),
      ),
      ...blocks.map(({ cells }) => s('path', { class: 'block', d: this.around(cells) })),
    ];
  }

  lanes(): SVGElement[] {
    return vectors(this.frame).map(({ number, marks }) => {
      const d = path(marks.map((mark) => this.frame.place(mark)));
      return s('path', { class: `lane ${role(this.frame.data.number(number))}`, d, 'stroke-width': this.frame.unit * 0.55 });
    });
  }

  /** One thread is hatched and named: that of an instance, else the one that stands for all. */
  show(statement?: number, row?: number): void {
    const part = statement === undefined || row === undefined ? null : numbering(this.frame.data).thread(statement, row);
    const own = part && this.found.threads.find(({ keys }) => keys.has(part.key));
    const region = own ?? example(this.found);
    const label = own ? part.label : (region?.label ?? '');
    const name = `${own ? part.key : ''} ${label}`;
    if (name === this.hatched) return;
    this.hatched = name;
    const lines = region ? hatching(region.cells, Math.max(2, Math.round(this.frame.unit / HATCH))) : [];
    const d = lines.map((line) => path(line.map((at) => this.frame.at(...at)))).join('');
    this.hatch.replaceChildren(...(region ? [s('path', { class: 'hatch', d })] : []));
    this.name(region, label);
  }

  private around(cells: XY[], inside = 0): string {
    return outlines(cells, inside)
      .map((corners) => `${path(corners.map((corner) => this.frame.at(...corner)))}z`)
      .join('');
  }

  /** Labels stand where they meet none of those before; those of blocks stay where they are. */
  private name(thread: Region | undefined, words: string): void {
    const labels = new Labels(this.frame);
    const { blocks } = this.found;
    if (blocks.length <= NAMED)
      blocks.forEach(({ cells, label }, n) => {
        const named = n === 0 && labels.block(firstRun(cells), `block ${label}`);
        if (!named) labels.block(firstRun(cells), label);
      });
    if (thread) labels.thread(firstRun(thread.cells), words);
    this.labels.replaceChildren(...labels.placed.flatMap(written));
  }
}

interface Label {
  kind: 'block' | 'thread';
  x: number;
  y: number;
  size: number;
  text: string;
}

type Run = [left: number, top: number, right: number, bottom: number];

/** Words beside what they name, in pixels, each where it meets none of those before. */
export class Labels {
  readonly placed: Label[] = [];

  constructor(private readonly frame: Frame) {}

  /** On the upper edge of a block; whether there was room. */
  block([left, top, right]: Run, text: string): boolean {
    const [[x, y], [end]] = [this.frame.at(left, top), this.frame.at(right, top)];
    const label = this.at('block', [x, y], text);
    return wide(label) + 4 * ROOM <= end - x && this.put(label);
  }

  /** On the lower edge of a thread's first places or on the upper one, if need be somewhat to the right; whether there was room. */
  thread([left, top, , bottom]: Run, text: string): boolean {
    const spots = [0, 1, 2, 3].flatMap((n) => [this.frame.at(left + n, bottom), this.frame.at(left + n, top)]);
    return spots.some((spot) => this.put(this.at('thread', spot, text)));
  }

  /** Words on an edge that begins in a corner; they are no smaller than can be read. */
  private at(kind: Label['kind'], [x, y]: XY, text: string): Label {
    const size = Math.max(SMALLEST, Math.min(LETTERS, this.frame.unit / 2));
    return { kind, x: x + 2 * ROOM, y: y + 0.36 * size, size, text };
  }

  private put(label: Label): boolean {
    const own = room(label);
    if (own[0] < 0 || own[2] > this.frame.width || own[3] > this.frame.height) return false;
    const meets = (other: Run) => own[0] < other[2] && other[0] < own[2] && own[1] < other[3] && other[1] < own[3];
    if (this.placed.some((other) => meets(room(other)))) return false;
    this.placed.push(label);
    return true;
  }
}

const wide = ({ text, size }: Label): number => text.length * size * WIDTH;
function room(label: Label): Run {
  const { x, y, size } = label;
  return [x - ROOM / 2, y - 0.76 * size, x + wide(label) + ROOM / 2, y + 0.2 * size];
}
/** Words on a ground of their own, or the edge would run through them. */
function written(label: Label): SVGElement[] {
  const [x, y, right, bottom] = room(label);
  const ground = s('rect', { class: 'label-ground', x, y, width: right - x, height: bottom - y, rx: 2 });
  const { kind, size, text } = label;
  return [ground, s('text', { class: `label of-${kind}`, x: label.x, y: label.y, 'font-size': size }, text)];
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
