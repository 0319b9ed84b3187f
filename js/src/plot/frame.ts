// Where the instances of one nest stand in its picture: its scene on two axes, at so many pixels a place.

import type { Data } from '../state/data';
import { spot } from '../tools/geometry';
import type { XY } from '../tools/geometry';
import { scene } from './scene';
import type { Look, Mark, Scene } from './scene';
import type { Nest, Statement } from '../state/messages';

export const MARGIN = { left: 46, right: 18, top: 44, bottom: 16 };
const TALLEST = 340; // pixels of what is between the margins, where nobody says how high a picture may be
export const LEAST = 1.5; // pixels of a place
export const MOST = 64;
const NARROWEST = 100; // pixels between the margins

/** A zoom, and how far the picture is moved then, in pixels. */
export interface View {
  k: number;
  x: number;
  y: number;
}

export const WHOLE: View = { k: 1, x: 0, y: 0 };

/** How many places a scene has each way. */
export const places = ({ low, high }: Scene): XY => [high[0] - low[0] + 1, high[1] - low[1] + 1];

export class Frame {
  readonly scene: Scene;
  readonly unit: number; // pixels of a place
  readonly width: number;
  readonly height: number;
  private readonly cells = new Map<number, Mark[]>();

  /** `space` is how many pixels wide it may become, `tall` how high; its scene, where that is known. */
  constructor(
    readonly data: Data,
    readonly nest: Nest,
    readonly look: Look,
    space: number,
    tall: number = TALLEST + MARGIN.top + MARGIN.bottom,
    known?: Scene,
  ) {
    this.scene = known ?? scene(data, nest, look);
    const { marks } = this.scene;
    const [nx, ny] = places(this.scene);
    const room = space - MARGIN.left - MARGIN.right;
    const upright = tall - MARGIN.top - MARGIN.bottom;
    this.unit = Math.max(LEAST, Math.min(MOST, room / nx, upright / ny));
    this.width = Math.max(NARROWEST, nx * this.unit) + MARGIN.left + MARGIN.right;
    this.height = ny * this.unit + MARGIN.top + MARGIN.bottom;
    for (const mark of marks) {
      const key = spot(mark.x, mark.y);
      const known = this.cells.get(key);
      if (known) known.push(mark);
      else this.cells.set(key, [mark]);
    }
  }

  /** How many instances are shown. */
  get instances(): number {
    return this.scene.byRow.reduce((sum, rows) => sum + rows.size, 0);
  }

  /** The statement of the nest with the most dims. */
  get largest(): Statement {
    const own = this.nest.statements.map((n) => this.data.domain.statements[n]);
    return own.reduce((a, b) => (b.dims.length > a.dims.length ? b : a));
  }

  /** The pixel of a place: y runs down, as loops are read. */
  at(x: number, y: number): XY {
    const { low } = this.scene;
    return [MARGIN.left + (x - low[0] + 0.5) * this.unit, MARGIN.top + (y - low[1] + 0.5) * this.unit];
  }

  /** The place, with its fractions, of a pixel of the picture as it is moved and zoomed. */
  from([px, py]: XY, { k, x, y }: View): XY {
    const { low } = this.scene;
    return [((px - x) / k - MARGIN.left) / this.unit + low[0] - 0.5, ((py - y) / k - MARGIN.top) / this.unit + low[1] - 0.5];
  }

  /** The marks of a place. */
  standing([x, y]: XY): Mark[] {
    return this.cells.get(spot(x, y)) ?? [];
  }

  place(mark: Mark): XY {
    return this.at(mark.x + mark.shift[0], mark.y + mark.shift[1]);
  }

  /** The mark of the place that a point is in, the nearest of several. */
  near([x, y]: XY): Mark | null {
    const found = this.standing([Math.round(x), Math.round(y)]);
    const away = (m: Mark) => Math.hypot(m.x + m.shift[0] - x, m.y + m.shift[1] - y);
    return found.reduce<Mark | null>((best, m) => (best && away(best) <= away(m) ? best : m), null);
  }

  /** Where the points are, without axes. */
  box(): { x: number; y: number; width: number; height: number } {
    const { low, high } = this.scene;
    const height = this.height - MARGIN.bottom - MARGIN.top;
    return { x: MARGIN.left, y: MARGIN.top, width: (high[0] - low[0] + 1) * this.unit, height };
  }
}
