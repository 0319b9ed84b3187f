// Words beside what they name, in pixels, each where it meets none of those before.

import { s } from '../tools/dom';
import type { Frame } from './frame';
import { MARGIN } from './frame';
import type { XY } from '../tools/geometry';

const LETTERS = 10; // pixels, where places are at least twice as high
const SMALLEST = 7.5;
const WIDTH = 0.58; // of a letter, of its height
const ROOM = 2; // pixels around a label
const SPARE = [1.5, 3]; // how much wider and higher than its label a block is that is named among many
const POINT = 0.28; // of a place: a point from its middle
const HIGHEST = 11; // pixels of that
const WIDE = 50; // pixels of a place in which several statements leave room for words on its edge
const BORDER = 1.5; // pixels of the half of a border

interface Label {
  kind: 'block' | 'thread';
  x: number;
  y: number;
  size: number;
  text: string;
}

export type Run = [left: number, top: number, right: number, bottom: number];

/** Where a thread may be named. */
export interface Beside {
  run: Run; // its first places
  foot?: number; // the left end of it in the last row of the picture
  inside: boolean; // whether no other's points stand in it
  lower: boolean; // whether what is below is of the same block
}

export class Labels {
  readonly placed: Label[] = [];

  constructor(private readonly frame: Frame) {}

  /** On the upper edge of a block; whether there was room. */
  block([left, top, right]: Run, text: string): boolean {
    const [[x, y], [end]] = [this.frame.at(left, top), this.frame.at(right, top)];
    const label = this.on('block', [x, y], text);
    return wide(label) + 4 * ROOM <= end - x && this.put(label);
  }

  /** Whether a block is so much larger than its label that many of them hide nothing. */
  roomy([left, top, right, bottom]: Run, text: string): boolean {
    const label = this.on('block', [0, 0], text);
    const { unit } = this.frame;
    return SPARE[0] * (wide(label) + 4 * ROOM) <= (right - left) * unit && SPARE[1] * label.size <= (bottom - top) * unit;
  }

  /** Inside a thread, at its foot below the picture, or on an edge which no other block has; whether there was room. */
  thread({ run: [left, top, right, bottom], foot, inside, lower }: Beside, text: string): boolean {
    const [x, y] = this.frame.at(left, top);
    const [end, under] = this.frame.at(right, bottom);
    const { unit } = this.frame;
    const spots: Label[] = [];
    if (inside) spots.push(...this.within([x, y], [end, under], text));
    if (foot !== undefined) spots.push(...this.below(this.frame.at(foot, 0)[0], text));
    if (!inside && unit < WIDE) return spots.some((label) => this.put(label));
    const starts = Array.from({ length: Math.ceil(right - left) }, (_, n) => x + n * unit);
    spots.push(...starts.map((start) => this.on('thread', [start, y], text)));
    if (lower) spots.push(...starts.map((start) => this.on('thread', [start, under], text)));
    return spots.some((label) => this.put(label));
  }

  /** Above and below the points of one row, where the thread is wide enough. */
  private within([x, y]: XY, [end, under]: XY, text: string): Label[] {
    const label = this.on('thread', [x, y], text);
    const { size } = label;
    const free = this.frame.unit / 2 - Math.min(HIGHEST, POINT * this.frame.unit) - BORDER;
    if (wide(label) + 4 * ROOM > end - x || free < 0.96 * size) return [];
    const high = y + BORDER + free - 0.2 * size;
    return [{ ...label, y: high }, { ...label, y: under - BORDER - 0.2 * size }]; // prettier-ignore
  }

  private below(x: number, text: string): Label[] {
    const label = this.on('thread', [x, 0], text);
    const y = this.frame.height - MARGIN.bottom + BORDER + 0.76 * label.size;
    return [{ ...label, y: y + 1 }, { ...label, y: y + 1, x: this.frame.width - wide(label) - ROOM }]; // prettier-ignore
  }

  /** Words on an edge that begins in a corner; they are no smaller than can be read. */
  private on(kind: Label['kind'], [x, y]: XY, text: string): Label {
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
export function written(label: Label): SVGElement[] {
  const [x, y, right, bottom] = room(label);
  const ground = s('rect', { class: 'label-ground', x, y, width: right - x, height: bottom - y, rx: 2 });
  const { kind, size, text } = label;
  return [ground, s('text', { class: `label of-${kind}`, x: label.x, y: label.y, 'font-size': size }, text)];
}
