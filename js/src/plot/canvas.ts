// Many points of a plot, on a canvas below its SVG; of very many, how many there are in each square.

import { numberOf } from '../tools/quantities';
import { h } from '../tools/dom';
import { MARGIN, WHOLE } from './frame';
import type { Frame, View } from './frame';
import { COLOURS } from '../tools/palette';

const SHARP = 2; // pixels of the canvas for one of the page
export const DENSE = 100_000; // instances beyond which squares say how many there are
const SINGLE = 4; // pixels of a cell from which on points are seen singly
const SQUARE = 4; // pixels of a square, at least
const PALEST = 0.12;
const RESTS = 150; // milliseconds after which what was moved is drawn anew

export class PointCanvas {
  readonly element: HTMLCanvasElement;
  readonly caption = h('p', { class: 'note density' });
  private whole: HTMLCanvasElement | null = null;
  private gliding = false;
  private rest = 0;
  private view = WHOLE;

  constructor(private readonly frame: Frame) {
    const { width, height } = frame;
    this.element = this.blank();
    this.element.style.cssText = `width:${width}px;height:${height}px`;
  }

  private blank(): HTMLCanvasElement {
    return h('canvas', { width: this.frame.width * SHARP, height: this.frame.height * SHARP });
  }

  /** Colours are those of the page, which are known once the canvas stands in it. */
  paint(view: View): void {
    this.view = view;
    if (this.element.isConnected) this.fill(this.element, view);
    else
      requestAnimationFrame(() => {
        if (this.element.isConnected) this.paint(this.view);
      });
  }

  private fill(canvas: HTMLCanvasElement, { k, x, y }: View): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const { data, scene, unit, width, height, nest } = this.frame;
    const style = getComputedStyle(this.element);
    const colours = [...Array(COLOURS).keys()].map((n) => style.getPropertyValue(`--wb-s${n}`) || '#0067a8');
    this.cleared(context, k > 1);
    context.setTransform(SHARP * k, 0, 0, SHARP * k, SHARP * x, SHARP * y);
    if (this.dense(k)) {
      context.setTransform(SHARP * k, 0, 0, SHARP * k, Math.round(SHARP * x), Math.round(SHARP * y));
      this.density(context, k, colours);
      return context.restore();
    }
    this.caption.textContent = '';
    const r = Math.max(0.6, unit * 0.36);
    const [left0, top0] = [scene.low[0] - 0.5 - MARGIN.left / unit, scene.low[1] - 0.5 - MARGIN.top / unit];
    const [left, right, top, bottom] = [(-9 - x) / k, (width + 9 - x) / k, (-9 - y) / k, (height + 9 - y) / k];
    for (const number of nest.statements) {
      context.fillStyle = colours[data.number(number) % COLOURS];
      for (const mark of scene.marks) {
        if (mark.statement !== number) continue;
        const [px, py] = [(mark.x + mark.shift[0] - left0) * unit, (mark.y + mark.shift[1] - top0) * unit];
        if (px > left && px < right && py > top && py < bottom) context.fillRect(px - r, py - r, 2 * r, 2 * r);
      }
    }
    context.restore();
  }

  /** Whether points would hide how many they are: too small, or several at one place. */
  private dense(k: number): boolean {
    const { instances, unit, scene } = this.frame;
    return instances > DENSE && (unit * k < SINGLE || instances > scene.marks.length);
  }

  /** Squares of whole cells, the fuller the stronger. */
  private density(context: CanvasRenderingContext2D, k: number, colours: string[]): void {
    const {
      data,
      scene: { marks, low, high },
      unit,
      nest,
    } = this.frame;
    const cells = unit * k < SINGLE ? Math.ceil(SQUARE / (unit * k)) : 1;
    const [wide, tall] = [high[0] - low[0] + 1, high[1] - low[1] + 1];
    const columns = Math.ceil(wide / cells);
    const counts = new Map(nest.statements.map((n) => [n, new Float64Array(columns * Math.ceil(tall / cells))]));
    for (const mark of marks) {
      counts.get(mark.statement)![Math.floor((mark.y - low[1]) / cells) * columns + Math.floor((mark.x - low[0]) / cells)] +=
        mark.rows.length;
    }
    const inside = (at: number, count: number) => Math.min(cells, count - at * cells);
    const whole = (at: number) => Math.round(at * SHARP * k) / (SHARP * k); // or seams are seen between squares
    let most = 0;
    const each = (action: (number: number, column: number, row: number, count: number) => void) =>
      counts.forEach((found, number) =>
        found.forEach((count, at) => {
          if (count) action(number, at % columns, Math.floor(at / columns), count);
        }),
      );
    each((_, column, row, count) => {
      most = Math.max(most, count / (inside(column, wide) * inside(row, tall)));
    });
    each((number, column, row, count) => {
      const [w, t] = [inside(column, wide), inside(row, tall)];
      context.globalAlpha = PALEST + (1 - PALEST) * (count / (w * t * most));
      context.fillStyle = colours[data.number(number) % COLOURS];
      const [left, top] = [whole(MARGIN.left + column * cells * unit), whole(MARGIN.top + row * cells * unit)];
      context.fillRect(
        left,
        top,
        whole(MARGIN.left + (column * cells + w) * unit) - left,
        whole(MARGIN.top + (row * cells + t) * unit) - top,
      );
    });
    context.globalAlpha = 1;
    const many = Math.round(most * 10) / 10;
    this.caption.textContent = `density: the strongest colour is ${numberOf(many, 'instance')} at each place${cells > 1 ? ` (squares of ${cells} × ${cells} places; zoom in to see points)` : ''}`;
  }

  /** An empty canvas; what is zoomed stays within the axes. */
  private cleared(context: CanvasRenderingContext2D, zoomed: boolean): void {
    context.save();
    context.setTransform(SHARP, 0, 0, SHARP, 0, 0);
    context.clearRect(0, 0, this.frame.width, this.frame.height);
    if (!zoomed) return;
    const { x, y, width, height } = this.frame.box();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
  }

  /** While many points move, their finished picture moves; they are drawn anew when they rest. */
  glide(view: View): void {
    this.view = view;
    if (this.gliding) return;
    this.gliding = true;
    window.clearTimeout(this.rest);
    requestAnimationFrame(() => {
      this.gliding = false;
      this.move();
      this.rest = window.setTimeout(() => this.paint(this.view), RESTS);
    });
  }

  private move(): void {
    const {
      frame: { width, height },
      view: { k, x, y },
    } = this;
    if (!this.whole) this.fill((this.whole = this.blank()), WHOLE);
    const context = this.element.getContext('2d');
    if (!context) return;
    this.cleared(context, k > 1);
    context.drawImage(this.whole, x, y, width * k, height * k);
    context.restore();
  }
}
