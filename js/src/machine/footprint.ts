// What one iteration of each loop holds and what all of them move, against the caches of the machine.

import { numberOf, bytes, count } from '../tools/quantities';
import { button, h, s } from '../tools/dom';
import { arrayGlyph, arrayRole } from '../tools/palette';
import { levels } from '../state/levels';
import { MachineBar } from './machine';
import type { State } from '../state/state';
import type { Footprints, LoopTraffic } from '../state/messages';

const ROW = 24;
const LEFT = 150;
const RIGHT = 170;

export class FootprintPane {
  readonly element = h('section', { class: 'pane footprint', 'aria-label': 'Memory' });
  private readonly machine: MachineBar;
  private rows: { loop: string; shape: SVGElement }[] = [];

  constructor(private readonly state: State) {
    this.machine = new MachineBar(state);
    state.onMachine(() => {
      if (this.element.isConnected) this.draw();
    });
  }

  draw(): void {
    const found = this.state.lazy.view('footprint');
    const body = !found
      ? [h('p', { class: 'soft' }, 'counting …')]
      : 'reason' in found
        ? [h('p', { class: 'note' }, found.reason)]
        : this.pictures(found);
    const scroll = this.element.scrollTop;
    if (this.machine.element.isConnected && this.element.contains(this.machine.element)) {
      [...this.element.children].forEach((child) => {
        if (child !== this.machine.element && child.tagName !== 'H3') child.remove();
      });
      this.element.append(...body); // a slider must not lose the hand that holds it
    } else this.element.replaceChildren(h('h3', {}, 'Memory: what an iteration holds, what all move'), this.machine.element, ...body);
    this.element.scrollTop = scroll;
    this.light();
  }

  private pictures(found: Footprints): HTMLElement[] {
    const touched = new Set(found.rows.flatMap((row) => row.arrays.map((a) => a.name)));
    const known = Object.keys(this.state.data.domain.arrays).filter((name) => touched.has(name)); // the program's own order
    const names = [...new Set([...known, ...touched])];
    const keys = names.map((name) =>
      h('span', { class: `key ${arrayRole(this.mark(name))}` }, h('i', { class: 'swatch' }), `${arrayGlyph(this.mark(name))} ${name}`),
    );
    const more = found.exact
      ? null
      : button('count exactly', () => void this.state.ask('view', { name: 'footprint', given: { seconds: 30 } }));
    const origin = found.exact ? 'exact counts of cells' : 'an estimate by boxes: exact counting took too long';
    return [
      h('div', { class: 'keys' }, ...keys),
      h('div', { class: 'bars' }, this.bars(found)),
      this.table(found),
      h('p', { class: 'note' }, [found.note, origin].filter(Boolean).join(' · '), ' ', more),
    ];
  }

  /** What fixes an array's colour and mark. */
  private mark(name: string): number {
    return this.state.data.domain.marks[name] ?? 0;
  }

  private bars(found: Footprints): SVGSVGElement {
    const wide = Math.max(420, (this.element.clientWidth || 620) - 30);
    const room = wide - LEFT - RIGHT;
    const most = Math.max(...found.rows.map((row) => row.held), ...this.state.machine.cache_bytes, 64);
    const x = (n: number) => (n < 4 ? 0 : (Math.log2(n / 4) / Math.log2(most / 4)) * room);
    const high = found.rows.length * ROW + 34;
    const marks: SVGElement[] = this.state.machine.cache_bytes.flatMap((capacity, i) =>
      capacity
        ? [
            s('line', { class: 'capacity', x1: LEFT + x(capacity), x2: LEFT + x(capacity), y1: 18, y2: high - 10 }),
            s('text', { class: 'tick', x: LEFT + x(capacity), y: 12, 'text-anchor': 'middle' }, `L${i + 1} ${bytes(capacity)}`),
          ]
        : [],
    );
    marks.push(
      s('text', { class: 'tick', x: wide - 4, y: 12, 'text-anchor': 'end' }, 'all move'),
      s('text', { class: 'tick', x: LEFT - 6, y: 12, 'text-anchor': 'end' }, 'one holds'),
    );
    this.rows = [];
    found.rows.forEach((row, i) => {
      const y = 20 + i * ROW;
      const group = s(
        'g',
        {
          class: 'foot',
          mouseenter: () => this.state.hover(row.loop ? { loop: row.loop } : null),
          mouseleave: () => this.state.hover(null),
          click: () => row.loop && this.state.select({ loop: row.loop }),
        },
        s('rect', { class: 'strip', x: 0, y, width: wide, height: ROW }),
        s('text', { class: 'name', x: 8 + Math.min(row.depth, 8) * 9, y: y + 16 }, row.loop || 'everything'),
        s('text', { class: 'tick', x: LEFT - 6, y: y + 16, 'text-anchor': 'end' }, bytes(row.held)),
        ...this.bar(row, y, x(row.held)),
        s(
          'text',
          { class: 'tick', x: wide - 4, y: y + 16, 'text-anchor': 'end' },
          `${bytes(row.moved)}${row.iterations ? ` in ${count(row.iterations)} ×` : ''}`,
        ),
      );
      this.rows.push({ loop: row.loop, shape: group });
      marks.push(group);
    });
    return s(
      'svg',
      { class: 'chart', width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': this.label(found) },
      ...marks,
    );
  }

  /** The arrays' shares of a bar whose length is logarithmic in their sum. */
  private bar(row: Footprints['rows'][number], y: number, width: number): SVGElement[] {
    if (!row.arrays.length) return [s('rect', { class: 'part a0', x: LEFT, y: y + 4, width: Math.max(1, width), height: ROW - 8 })];
    let at = LEFT;
    return row.arrays.map((a) => {
      const own = (width * a.held) / Math.max(1, row.held);
      const shape = s(
        'rect',
        { class: `part ${arrayRole(this.mark(a.name))}`, x: at, y: y + 4, width: Math.max(0.5, own), height: ROW - 8 },
        s(
          'title',
          {},
          `${a.name}: holds ${bytes(a.held)}, moves ${bytes(a.moved)}${a.reuse ? `, each cell touched ${numberOf(a.reuse, 'time')}` : ''}`,
        ),
      );
      at += own;
      return shape;
    });
  }

  private label(found: Footprints): string {
    return found.rows.map((row) => `${row.loop || 'everything'} holds ${bytes(row.held)} and moves ${bytes(row.moved)}`).join('; ');
  }

  private table(found: Footprints): HTMLElement {
    const nodes: LoopTraffic[] = found.rows.map((row) => [row.parent, row.held, row.moved, row.statements]);
    const { pinned } = this.state;
    const before = pinned?.nodes.length ? levels(pinned.nodes, pinned.touches, this.state.machine) : null;
    const rows = levels(nodes, found.touches, this.state.machine).map((level, i) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, level.name),
        h('td', {}, bytes(level.capacity)),
        h('td', {}, level.keeps.map((i) => found.rows[i].loop || 'everything').join(', ') || 'nothing'),
        h('td', { class: 'n' }, bytes(level.moved)),
        h('td', { class: 'n' }, level.moved ? (found.flops / level.moved).toPrecision(3) : ''),
        before
          ? h('td', { class: 'n' }, `${bytes(before[i].moved)}${level.moved ? `, ${ratio(before[i].moved / level.moved)}` : ''}`)
          : null,
      ),
    );
    return h(
      'table',
      { class: 'levels' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...[
            'cache',
            'of',
            'keeps an iteration of',
            'bytes through',
            'operations a byte',
            ...(before ? [`pinned: ${pinned!.name}`] : []),
          ].map((t) => h('th', { scope: 'col' }, t)),
        ),
      ),
      h('tbody', {}, ...rows),
    );
  }

  light(): void {
    const loop = this.state.litLoop;
    for (const { loop: own, shape } of this.rows) shape.classList.toggle('active', Boolean(loop) && own === loop);
  }
}

/** How many times less is moved now, or more. */
function ratio(times: number): string {
  return Math.abs(times - 1) < 0.005
    ? 'the same'
    : times > 1
      ? `now ${times.toPrecision(2)}× less`
      : `now ${(1 / times).toPrecision(2)}× more`;
}
