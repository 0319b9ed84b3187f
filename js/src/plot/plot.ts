// One nest on two axes: tiles, lanes, arrows, points; drawn as SVG, the points on a canvas when there are many.

import { arrowsOf, redOf } from './arrows';
import type { Arrow } from './arrows';
import { DENSE, PointCanvas } from './canvas';
import { numberOf } from '../tools/quantities';
import { crowded, examples } from './crowd';
import { h, placeIn, s } from '../tools/dom';
import { Frame, MARGIN, WHOLE } from './frame';
import type { View } from './frame';
import { marker } from '../tools/geometry';
import type { XY } from '../tools/geometry';
import { form, role } from '../tools/palette';
import type { Nest } from '../state/messages';
import { Regions } from './regions';
import type { Look, Mark, Scene } from './scene';
import type { State } from '../state/state';

const SVG_POINTS = 5000;
const SLIM = 0.3; // of the way between neighbours: the widest mark is 2.75 times its size

let plots = 0;

export class Plot extends Frame {
  readonly element: HTMLElement;
  readonly svg: SVGSVGElement;
  readonly ghost = s('g', { class: 'ghost' });
  private readonly world = s('g', { class: 'world' });
  private readonly stage = s('g', {}, this.world);
  private readonly ruler = s('g', { class: 'ruler' });
  private readonly clip = `wbp-frame-${(plots += 1)}`;
  private readonly canvas: PointCanvas | null = null;
  private drawn: { mark: Mark; shape: SVGPathElement }[] = [];
  private arrows: { arrow: Arrow; shape: SVGGElement }[] = [];
  private readonly ring = s('g', { class: 'ring' });
  readonly regions: Regions;
  crowded = false; // its arrows have no room: those of a few points are drawn, and of the one that is pointed at
  view = WHOLE;

  constructor(
    readonly state: State,
    nest: Nest,
    look: Look,
    space: number,
    tall?: number,
    known?: Scene,
  ) {
    super(state.data, nest, look, space, tall, known);
    this.svg = s('svg', {
      class: 'plot',
      width: this.width,
      height: this.height,
      viewBox: `0 0 ${this.width} ${this.height}`,
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'iteration domain',
      'aria-label': this.label(),
    });
    if (this.scene.marks.length > SVG_POINTS || this.instances > DENSE) this.canvas = new PointCanvas(this);
    this.regions = new Regions(this, !this.canvas);
    this.element = h('div', { class: 'plot-box' }, this.canvas?.element, this.svg, this.canvas?.caption);
    this.draw();
    this.light();
  }

  private label(): string {
    const names = this.nest.statements.map((n) => this.data.domain.statements[n].name).join(', ');
    return (
      `${numberOf(this.scene.marks.length, 'instance')} of ${names} on ${this.look.x || 'one place'}` +
      `${this.look.y ? ` and ${this.look.y}` : ''}; arrow keys walk, n and p follow the order of execution`
    );
  }

  /** The cell below a pointer event, with its fractions. */
  cell(event: MouseEvent): XY {
    const scale = this.width / this.svg.getBoundingClientRect().width;
    const [x, y] = placeIn(this.svg, event);
    return this.from([x * scale, y * scale], this.view);
  }

  // -- drawing ---------------------------------------------------------------------------------------------------------

  private draw(): void {
    const { regions } = this;
    const lanes = this.canvas ? [] : regions.lanes();
    this.world.append(...regions.shades(), regions.hatch, ...this.grid(), ...regions.outlines(), ...lanes);
    const arrows = s('g', { class: 'arrows' });
    const found = arrowsOf(this, this.state);
    this.crowded = crowded(this, found);
    const red = redOf(this, this.state.refusal.pairs ?? [], this.crowded ? 1 : Infinity);
    this.svg.classList.toggle('crowded', this.crowded);
    this.svg.classList.toggle('bordered', regions.kinds.includes('block'));
    const open = this.crowded ? examples(this, red.length ? [] : found) : new Set(found);
    for (const arrow of found) {
      const shape = this.arrow(arrow);
      shape.classList.toggle('crowd', !open.has(arrow));
      this.arrows.push({ arrow, shape });
      arrows.append(shape);
    }
    this.world.append(arrows);
    if (this.canvas) this.canvas.paint(this.view);
    else this.world.append(this.points());
    const wrong = s('g', { class: 'arrows red' }, ...red.map((arrow) => this.arrow(arrow)));
    this.world.append(wrong, this.ring, regions.labels, this.ghost);
    this.ruler.replaceChildren(...this.axes());
    this.svg.replaceChildren(s('clipPath', { id: this.clip }, s('rect', this.box())), this.stage, this.ruler);
  }

  private points(): SVGGElement {
    const size = Math.min(8, this.unit * Math.min(0.2, SLIM * this.scene.apart));
    const group = s('g', { class: 'points' });
    for (const mark of this.scene.marks) {
      const [x, y] = this.place(mark);
      const number = this.data.number(mark.statement);
      const shape = s('path', {
        class: `point ${role(number)} shape${form(number)}`,
        d: marker(number, size),
        transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
        'data-point': this.data.named(mark.statement, mark.rows[0]),
      });
      this.drawn.push({ mark, shape });
      group.append(shape);
    }
    return group;
  }

  private arrow({ kind, from, to, bend }: Arrow): SVGGElement {
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy) || 1;
    const rim = Math.min(this.unit * 0.24, 7.5, length * 0.3);
    const middle: XY = [(from[0] + to[0]) / 2 - (dy / length) * bend, (from[1] + to[1]) / 2 + (dx / length) * bend];
    const toward = (a: XY, b: XY): XY => {
      const l = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
      return [(b[0] - a[0]) / l, (b[1] - a[1]) / l];
    };
    const [u, v] = [toward(from, middle), toward(middle, to)];
    const [a, b]: [XY, XY] = [
      [from[0] + u[0] * rim, from[1] + u[1] * rim],
      [to[0] - v[0] * rim, to[1] - v[1] * rim],
    ];
    const size = kind === 'bad' ? Math.min(6.5, Math.max(4, length * 0.3)) : Math.min(5.5, Math.max(2.5, length * 0.25));
    const back: XY = [b[0] - v[0] * size, b[1] - v[1] * size];
    const side = size * 0.45;
    const text = (p: XY) => `${p[0].toFixed(1)},${p[1].toFixed(1)}`;
    return s(
      'g',
      { class: `arrow ${kind}` },
      s('path', { class: 'shaft', d: `M${text(a)}Q${text(middle)} ${text(back)}` }),
      s('path', {
        class: 'head',
        d: `M${text(b)}L${text([back[0] - v[1] * side, back[1] + v[0] * side])}L${text([back[0] + v[1] * side, back[1] - v[0] * side])}z`,
      }),
    );
  }

  private grid(): SVGElement[] {
    if (this.unit < 9) return [];
    const { low, high } = this.scene;
    const found: SVGElement[] = [];
    for (let x = low[0]; x <= high[0]; x += 1) found.push(this.rule(this.at(x, low[1] - 0.5), this.at(x, high[1] + 0.5)));
    for (let y = low[1]; y <= high[1]; y += 1) found.push(this.rule(this.at(low[0] - 0.5, y), this.at(high[0] + 0.5, y)));
    return found;
  }

  private rule([x1, y1]: XY, [x2, y2]: XY): SVGElement {
    return s('line', { class: 'grid', x1, y1, x2, y2 });
  }

  private axes(): SVGElement[] {
    const { low, high } = this.scene;
    const bottom = this.height - MARGIN.bottom;
    const { k, x: dx, y: dy } = this.view;
    const box = this.box();
    const found: SVGElement[] = [s('rect', { class: 'frame', ...box })];
    const step = (count: number) => [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * this.unit * k >= 22 || n * 8 > count) ?? 1000;
    const inside = (at: number, from: number, wide: number) => at > from && at < from + wide;
    const every = [step(high[0] - low[0] + 1), step(high[1] - low[1] + 1)];
    for (let x = low[0]; this.look.x && x <= high[0]; x += 1) {
      const at = this.at(x, 0)[0] * k + dx;
      if (x % every[0] === 0 && !this.scene.lanes[0].has(x) && inside(at, box.x, box.width))
        found.push(s('text', { class: 'tick', x: at, y: MARGIN.top - 7, 'text-anchor': 'middle' }, x));
    }
    for (let y = low[1]; this.look.y && y <= high[1]; y += 1) {
      const at = this.at(0, y)[1] * k + dy;
      if (y % every[1] === 0 && !this.scene.lanes[1].has(y) && inside(at, box.y, box.height))
        found.push(s('text', { class: 'tick', x: MARGIN.left - 7, y: at + 4, 'text-anchor': 'end' }, y));
    }
    const middle = MARGIN.left + ((high[0] - low[0] + 1) * this.unit) / 2;
    found.push(s('text', { class: 'axis x', x: middle, y: MARGIN.top - 26, 'text-anchor': 'middle' }, this.look.x));
    const across = [14, MARGIN.top + (bottom - MARGIN.top) / 2 + 4];
    found.push(
      s(
        'text',
        {
          class: 'axis y',
          transform: `translate(${across.join()})${this.look.y.length > 3 ? ' rotate(-90)' : ''}`,
          'text-anchor': 'middle',
        },
        this.look.y,
      ),
    );
    return found;
  }

  // -- light and view --------------------------------------------------------------------------------------------------

  light(): void {
    const lit = this.state.lit;
    const isLit = (m: Mark) => {
      const rows = lit.rows.get(m.statement);
      return rows ? m.rows.some((row) => rows.has(row)) : lit.whole.has(m.statement);
    };
    const marks = this.scene.marks.filter(isLit);
    const some = marks.length > 0;
    this.svg.classList.toggle('has-lit', some);
    const { time } = this.state;
    const waits = (m: Mark) => time !== null && m.rows.every((row) => this.state.when(m.statement, row) >= time);
    this.svg.classList.toggle('replaying', time !== null);
    for (const { mark, shape } of this.drawn) {
      shape.classList.toggle('lit', some && isLit(mark));
      shape.classList.toggle('waits', waits(mark));
    }
    const one = marks.length === 1 ? marks[0] : null;
    for (const { arrow, shape } of this.arrows)
      shape.classList.toggle('lit', one !== null && (arrow.source === one || arrow.target === one));
    this.regions.show(
      one?.statement,
      one?.rows.find((row) => lit.rows.get(one.statement)?.has(row)),
    );
    const few = marks.length <= 60 ? marks : [];
    this.ring.replaceChildren(
      ...few.map((m) => {
        const [cx, cy] = this.place(m);
        return s('circle', { cx, cy, r: Math.max(5, Math.min(10, this.unit * 0.38)) });
      }),
    );
  }

  move(view: View): void {
    this.view = view;
    this.world.setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.k})`);
    const zoomed = view.k !== 1 || view.x !== 0 || view.y !== 0;
    this.svg.classList.toggle('zoomed', zoomed);
    if (zoomed) this.stage.setAttribute('clip-path', `url(#${this.clip})`);
    else this.stage.removeAttribute('clip-path');
    this.ruler.replaceChildren(...this.axes());
    this.canvas?.glide(view);
  }

  zoom(factor: number, [cx, cy]: XY = [this.width / 2, this.height / 2]): void {
    const k = Math.min(40, Math.max(1, this.view.k * factor));
    const ratio = k / this.view.k;
    this.move(k === 1 ? WHOLE : { k, x: cx - (cx - this.view.x) * ratio, y: cy - (cy - this.view.y) * ratio });
  }
}
