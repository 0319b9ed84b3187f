// Many points of a plot, on a canvas below its SVG.

import { h } from './dom';
import { MARGIN } from './plot';
import type { Plot } from './plot';

const SHARP = 2; // pixels of the canvas for one of the page
const RESTS = 150; // milliseconds after which what was moved is drawn anew

export class PointCanvas {
  readonly element: HTMLCanvasElement;
  private whole: HTMLCanvasElement | null = null;
  private gliding = false;
  private rest = 0;

  constructor(private readonly plot: Plot) {
    const { width, height } = plot;
    this.element = this.blank();
    this.element.style.cssText = `width:${width}px;height:${height}px`;
  }

  private blank(): HTMLCanvasElement {
    return h('canvas', { width: this.plot.width * SHARP, height: this.plot.height * SHARP });
  }

  paint(): void {
    this.fill(this.element, this.plot.view);
  }

  private fill(canvas: HTMLCanvasElement, { k, x, y }: { k: number; x: number; y: number }): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const { scene, unit, width, height, nest } = this.plot;
    const style = getComputedStyle(this.plot.element ?? this.element);
    const colours = [0, 1, 2, 3, 4, 5].map((n) => style.getPropertyValue(`--wb-s${n}`) || '#0067a8');
    this.cleared(context, k > 1);
    context.setTransform(SHARP * k, 0, 0, SHARP * k, SHARP * x, SHARP * y);
    const r = Math.max(0.6, unit * 0.36);
    const [low, high] = [scene.low[0] - 0.5 - MARGIN.left / unit, scene.high[1] + 0.5 + MARGIN.top / unit];
    const [left, right, top, bottom] = [(-9 - x) / k, (width + 9 - x) / k, (-9 - y) / k, (height + 9 - y) / k];
    for (const number of nest.statements) {
      context.fillStyle = colours[number % 6];
      for (const mark of scene.marks) {
        if (mark.statement !== number) continue;
        const [px, py] = [(mark.x + mark.shift - low) * unit, (high - mark.y - mark.shift) * unit];
        if (px > left && px < right && py > top && py < bottom) context.fillRect(px - r, py - r, 2 * r, 2 * r);
      }
    }
    context.restore();
  }

  /** An empty canvas; what is zoomed stays within the axes. */
  private cleared(context: CanvasRenderingContext2D, zoomed: boolean): void {
    context.save();
    context.setTransform(SHARP, 0, 0, SHARP, 0, 0);
    context.clearRect(0, 0, this.plot.width, this.plot.height);
    if (!zoomed) return;
    const { x, y, width, height } = this.plot.box();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
  }

  /** While many points move, their finished picture moves; they are drawn anew when they rest. */
  glide(): void {
    if (this.gliding) return;
    this.gliding = true;
    window.clearTimeout(this.rest);
    requestAnimationFrame(() => {
      this.gliding = false;
      this.move();
      this.rest = window.setTimeout(() => this.paint(), RESTS);
    });
  }

  private move(): void {
    const { width, height, view: { k, x, y } } = this.plot;
    if (!this.whole) this.fill((this.whole = this.blank()), { k: 1, x: 0, y: 0 });
    const context = this.element.getContext('2d');
    if (!context) return;
    this.cleared(context, k > 1);
    context.drawImage(this.whole, x, y, width * k, height * k);
    context.restore();
  }
}
