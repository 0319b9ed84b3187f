// Threads as rows, moments as columns: what every thread executes when, lanes of a vector as stripes.

import { numberOf } from '../tools/quantities';
import { h, s } from '../tools/dom';
import { role } from '../tools/palette';
import { moments } from '../state/moments';
import type { Moments } from '../state/moments';
import type { State } from '../state/state';

const [WIDE, HIGH, MOST, LEFT] = [13, 18, 500, 120];

export class LanesPane {
  readonly element = h('section', { class: 'pane lanes', 'aria-label': 'Threads' });
  private found: Moments | null = null;
  private read: unknown = null;
  private marks: { statement: number; rows: number[]; at: number; shape: SVGElement }[] = [];
  private now: SVGElement = s('rect', { class: 'moment-now' });

  constructor(private readonly state: State) {}

  draw(): void {
    this.read = this.state.data;
    this.found = moments(this.state.data);
    const { table, threads } = this.found;
    const shown = table.slice(0, MOST);
    this.marks = [];
    const [wide, high] = [LEFT + shown.length * WIDE + 10, threads.length * HIGH + 24];
    const rows = threads.map((name, i) =>
      s('text', { class: 'tick', x: LEFT - 8, y: i * HIGH + 13, 'text-anchor': 'end' }, shortened(name || 'one thread')),
    );
    const cells = shown.flatMap((moment, at) =>
      threads.flatMap((_, thread) => (moment[thread] ? [this.cell(moment[thread], at, thread)] : [])),
    );
    const ticks = shown.flatMap((_, at) =>
      at % 10 ? [] : [s('text', { class: 'tick', x: LEFT + at * WIDE + WIDE / 2, y: high - 8, 'text-anchor': 'middle' }, at + 1)],
    );
    this.now = s('rect', { class: 'moment-now', x: -99, y: 0, width: WIDE, height: high - 22 });
    const svg = s(
      'svg',
      { class: 'chart', width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': this.words() },
      this.now,
      ...rows,
      ...cells,
      ...ticks,
    );
    this.element.replaceChildren(
      h('h3', {}, 'Threads: who runs when'),
      h('div', { class: 'film-strip', tabindex: 0, role: 'region', 'aria-label': 'moments' }, svg),
      h(
        'p',
        { class: 'note' },
        `${this.words()}${table.length > MOST ? `; the first ${MOST} are drawn` : ''}. Threads are drawn as if none waited.`,
      ),
    );
    this.light();
  }

  private words(): string {
    const { table, threads } = this.found!;
    const instances = this.state.data.domain.statements.reduce((sum, own) => sum + own.points[1], 0);
    const { pinned } = this.state;
    const before = pinned ? ` (pinned: ${pinned.moments})` : '';
    return `${numberOf(instances, 'instance')} in ${numberOf(table.length, 'moment')}${before} on ${numberOf(threads.length, 'thread')}`;
  }

  /** One thread's event; a stripe for each lane. */
  private cell({ statement, rows }: { statement: number; rows: number[] }, at: number, thread: number): SVGElement {
    const own = this.state.data.domain.statements[statement];
    const gap = rows.length > 1 ? 1 : 0;
    const each = (HIGH - 5) / rows.length;
    const stripes = rows
      .slice(0, 16)
      .map((_, i) =>
        s('rect', {
          x: LEFT + at * WIDE + 1,
          y: thread * HIGH + 2 + i * each,
          width: WIDE - 2,
          height: Math.max(0.8, each - gap),
          rx: rows.length > 1 ? 0 : 2,
        }),
      );
    const shape = s(
      'g',
      {
        class: `happening ${role(own.number)}`,
        mouseenter: () => this.state.hover({ statement: own.name, instance: this.state.data.row(own.points, rows[0]) }),
        mouseleave: () => this.state.hover(null),
        click: () => this.state.select({ statement: own.name, instance: this.state.data.row(own.points, rows[0]) }),
      },
      ...stripes,
      s(
        'title',
        {},
        rows
          .slice(0, 8)
          .map((row) => this.state.data.named(statement, row))
          .join('; '),
      ),
    );
    this.marks.push({ statement, rows, at, shape });
    return shape;
  }

  light(): void {
    if (!this.element.isConnected || !this.found) return;
    if (this.read !== this.state.data) return this.draw();
    const lit = this.state.lit;
    const { time } = this.state;
    for (const { statement, rows, shape, at } of this.marks) {
      const own = lit.rows.get(statement);
      shape.classList.toggle('lit', own ? rows.some((row) => own.has(row)) : false);
      shape.classList.toggle('waits', time !== null && this.state.together && at >= time);
    }
    this.now.setAttribute('x', String(time !== null && this.state.together && time > 0 ? LEFT + (time - 1) * WIDE : -99));
  }
}

const shortened = (text: string): string => (text.length > 19 ? `…${text.slice(-18)}` : text);
