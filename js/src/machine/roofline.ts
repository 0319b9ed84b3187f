// Operations a second against operations a byte: the way from the first schedule to this one, below the ceilings.

import { button, h, s } from '../tools/dom';
import { levels } from '../state/levels';
import { count, rate } from '../tools/quantities';
import { at } from '../schedule/measuring';
import type { State } from '../state/state';
import type { Roofline } from '../state/messages';

const BEHIND: Record<string, string> = { L1: 'L2', L2: 'L3', L3: 'memory' };
const HIGH = 250;
const PAD = { left: 58, right: 92, top: 20, bottom: 40 };

interface Point {
  pinned: boolean;
  name: string;
  intensity: number;
  bound: number;
  by: string;
  measured: number | null; // operations a second
}

export class RooflinePane {
  readonly element = h('section', { class: 'pane roofline', 'aria-label': 'Roofline' });

  constructor(private readonly state: State) {
    state.onMachine(() => {
      if (this.element.isConnected) this.draw();
    });
  }

  draw(): void {
    const found = this.state.lazy.view('roofline');
    const body = !found
      ? [h('p', { class: 'soft' }, 'counting …')]
      : 'reason' in found
        ? [h('p', { class: 'note' }, found.reason)]
        : this.picture(found);
    this.element.replaceChildren(h('h3', {}, 'Roofline: where the steps led'), ...body);
  }

  private picture(found: Roofline): (HTMLElement | SVGElement)[] {
    if (!found.ceilings) {
      const measure = button(
        'measure this machine (some seconds)',
        () => void this.state.ask('view', { name: 'roofline', given: { measure: true } }),
        { class: 'measure' },
      );
      return [h('p', { class: 'note' }, 'The ceilings of this machine are not known yet.'), measure];
    }
    const points = found.points.map((p) => this.point(p, found.ceilings!));
    const last = points.at(-1)!;
    const reached = last.measured
      ? `, measured ${rate(last.measured, 'FLOP/s')} (${Math.round((100 * last.measured) / last.bound)} % of it)`
      : '';
    const text = `${last.name}: at most ${rate(last.bound, 'FLOP/s')}, bound by ${last.by}${reached}`;
    return [
      this.chart(points, found.ceilings),
      h(
        'p',
        { class: 'note' },
        [
          text,
          ...(points.some((p) => p.measured) ? ['circles: at most, diamonds: measured'] : []),
          `traffic by boxes${found.note ? `, ${found.note}` : ''}`,
          `ceilings ${found.ceilings.origin}`,
        ].join(' · '),
      ),
    ];
  }

  /** Where a schedule stands: the level of memory that allows least. */
  private point(of: Roofline['points'][number], ceilings: NonNullable<Roofline['ceilings']>): Point {
    const { pinned: flag } = this.state;
    const pinned =
      flag !== null && flag.name === of.name && JSON.stringify(flag.nodes.map(([p]) => p)) === JSON.stringify(of.nodes.map(([p]) => p));
    const seconds = at(this.state.measured, of.place)?.seconds;
    const measured = seconds ? of.flops / seconds : null;
    const all = levels(of.nodes, of.touches, this.state.machine)
      .filter(({ name }) => BEHIND[name] in ceilings.bytes)
      .map(({ name, moved }) => {
        const intensity = of.flops / Math.max(1, moved);
        const roof = intensity * ceilings.bytes[BEHIND[name]];
        return {
          pinned,
          name: of.name,
          intensity,
          bound: Math.min(roof, ceilings.flops),
          by: roof < ceilings.flops ? BEHIND[name] : 'arithmetic',
          measured,
        };
      });
    return all.reduce(
      (a, b) => (b.bound < a.bound ? b : a),
      all[0] ?? { pinned, name: of.name, intensity: of.flops, bound: ceilings.flops, by: 'arithmetic', measured },
    );
  }

  private chart(points: Point[], ceilings: NonNullable<Roofline['ceilings']>): SVGSVGElement {
    const wide = Math.max(380, (this.element.clientWidth || 560) - 24);
    const knees = Object.values(ceilings.bytes).map((bytes) => ceilings.flops / bytes);
    const [low, high] = [
      Math.min(...points.map((p) => p.intensity), ...knees) / 3,
      Math.max(...points.map((p) => p.intensity), ...knees) * 3,
    ];
    const floor = Math.min(...points.map((p) => Math.min(p.bound, p.measured ?? p.bound))) / 4;
    const [lx, ly] = [Math.log(high / low), Math.log((ceilings.flops * 1.8) / floor)];
    const x = (v: number) => PAD.left + (Math.log(v / low) / lx) * (wide - PAD.left - PAD.right);
    const y = (v: number) => HIGH - PAD.bottom - (Math.log(Math.max(v, floor) / floor) / ly) * (HIGH - PAD.top - PAD.bottom);
    const roofs = Object.entries(ceilings.bytes).flatMap(([name, bytes]) =>
      this.roof(name, bytes, ceilings.flops, [low, high], floor, x, y),
    );
    const flat = s('text', { class: 'tick', x: x(high) + 5, y: y(ceilings.flops) + 4 }, rate(ceilings.flops, 'FLOP/s'));
    const way = points
      .slice(1)
      .map((p, i) => s('line', { class: 'way', x1: x(points[i].intensity), y1: y(points[i].bound), x2: x(p.intensity), y2: y(p.bound) }));
    const marks = points.map((p, i) =>
      s(
        'g',
        {},
        s(
          'circle',
          {
            class: `trial ${i === points.length - 1 ? 'now' : i ? '' : 'first'}${p.pinned ? ' pinned' : ''}`,
            cx: x(p.intensity),
            cy: y(p.bound),
            r: i === points.length - 1 ? 6 : 4.5,
          },
          s('title', {}, `${p.name}: ${p.intensity.toPrecision(3)} operations a byte, at most ${rate(p.bound, 'FLOP/s')} (${p.by})`),
        ),
      ),
    );
    const reached = points.flatMap((p, i) => this.reached(p, i === points.length - 1, x, y));
    const [first, last] = [points[0], points.at(-1)!];
    const apart = Math.hypot(x(first.intensity) - x(last.intensity), y(first.bound) - y(last.bound)) > 60;
    const label = (p: Point, text: string) => s('text', { class: 'label', x: x(p.intensity) + 9, y: y(p.bound) + 17 }, text);
    const named = [
      label(last, shortened(last.name)),
      ...(apart ? [label(first, 'first')] : []),
      ...points.filter((p) => p.pinned).map((p) => s('text', { class: 'label', x: x(p.intensity) - 4, y: y(p.bound) - 9 }, '⚑')),
    ];
    return s(
      'svg',
      {
        class: 'chart',
        width: wide,
        height: HIGH,
        viewBox: `0 0 ${wide} ${HIGH}`,
        role: 'img',
        'aria-label': points
          .map((p) => `${p.name}: at most ${count(p.bound)} operations a second${p.measured ? `, measured ${count(p.measured)}` : ''}`)
          .join('; '),
      },
      ...this.axes([low, high], [floor, ceilings.flops], x, y, wide),
      ...roofs,
      flat,
      ...way,
      ...reached,
      ...marks,
      ...named,
    );
  }

  /** What was measured, below what is possible: a diamond on a thread. */
  private reached(p: Point, isLast: boolean, x: (v: number) => number, y: (v: number) => number): SVGElement[] {
    if (!p.measured) return [];
    const [cx, cy, r] = [x(p.intensity), y(p.measured), isLast ? 6 : 4.5];
    const d = `M${cx},${cy - r}L${cx + r},${cy}L${cx},${cy + r}L${cx - r},${cy}Z`;
    return [
      s('line', { class: 'thread', x1: cx, x2: cx, y1: y(p.bound), y2: cy }),
      s('path', { class: `measured${isLast ? ' now' : ''}`, d }, s('title', {}, `${p.name}: measured ${rate(p.measured, 'FLOP/s')}`)),
      ...(isLast ? [s('text', { class: 'label', x: cx + 9, y: cy + 4 }, rate(p.measured, 'FLOP/s'))] : []),
    ];
  }

  private roof(
    name: string,
    bytes: number,
    flops: number,
    [low, high]: number[],
    floor: number,
    x: (v: number) => number,
    y: (v: number) => number,
  ): SVGElement[] {
    const [from, knee] = [Math.max(low, floor / bytes), flops / bytes];
    const d = `M${x(from)},${y(from * bytes)}L${x(knee)},${y(flops)}L${x(high)},${y(flops)}`;
    const at = Math.sqrt(from * knee);
    const slope = (Math.atan2(y(flops) - y(from * bytes), x(knee) - x(from)) * 180) / Math.PI;
    return [
      s('path', { class: 'roof', d }),
      s(
        'text',
        { class: 'tick', 'text-anchor': 'middle', transform: `translate(${x(at)},${y(at * bytes) - 5}) rotate(${slope})` },
        `${name} ${rate(bytes, 'B/s')}`,
      ),
    ];
  }

  private axes(
    [low, high]: number[],
    [floor, top]: number[],
    x: (v: number) => number,
    y: (v: number) => number,
    wide: number,
  ): SVGElement[] {
    const times = (factors: number[], a: number, b: number) =>
      Array.from({ length: 40 }, (_, i) => factors.map((f) => f * 10 ** (i - 10)))
        .flat()
        .filter((v) => v >= a && v <= b);
    const powers = (a: number, b: number) =>
      [[1], [1, 3], [1, 2, 5]].map((factors) => times(factors, a, b)).find((found) => found.length > 2) ?? times([1, 2, 5], a, b);
    const [middle, left] = [(PAD.top + HIGH - PAD.bottom) / 2, 12];
    return [
      ...powers(low, high).flatMap((v) => [
        s('line', { class: 'grid', x1: x(v), x2: x(v), y1: PAD.top, y2: HIGH - PAD.bottom }),
        s(
          'text',
          { class: 'tick', x: x(v), y: HIGH - PAD.bottom + 15, 'text-anchor': 'middle' },
          v < 1 ? String(Number(v.toPrecision(1))) : count(v),
        ),
      ]),
      ...powers(floor, top).flatMap((v) => [
        s('line', { class: 'grid', y1: y(v), y2: y(v), x1: PAD.left, x2: wide - PAD.right }),
        s('text', { class: 'tick', x: PAD.left - 6, y: y(v) + 4, 'text-anchor': 'end' }, count(v)),
      ]),
      s(
        'text',
        { class: 'tick', x: (wide - PAD.right + PAD.left) / 2, y: HIGH - 8, 'text-anchor': 'middle' },
        'operations a byte, at the level of memory that allows least',
      ),
      s('text', { class: 'tick', 'text-anchor': 'middle', transform: `translate(${left},${middle}) rotate(-90)` }, 'operations a second'),
    ];
  }
}

const shortened = (text: string): string => (text.length > 26 ? `${text.slice(0, 25)}…` : text);
