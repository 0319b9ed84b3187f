// A small cache, line by line, as the replay goes on: which touches find their line, and which lines are there.

import { numberOf, bytes } from '../tools/quantities';
import { button, h, s } from '../tools/dom';
import type { Machine, Scale } from '../state/messages';
import type { State } from '../state/state';

const SIZES = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const LINES = [8, 16, 32, 64];
const MOST_CELLS = 4096;
const FEWEST = 4; // lines of a cache in which something comes and goes
const SHORTEST = 2; // elements of a line: neighbours come together

/** A machine's first cache, as small beside the tensors as it is beside those that are meant; as `scaled_cache` has it. */
export function scaled({ cache_bytes: [level], line_bytes: whole }: Machine, { data, row }: Scale, element: number): Lines {
  const what = `the first cache of the machine, ${bytes(level)} in lines of ${bytes(whole)}`;
  if (data === 1) return { size: Math.max(FEWEST, Math.floor(level / whole)) * whole, line: whole, words: what };
  const most = Math.max(1, Math.floor(whole / element));
  const line = element * Math.min(most, Math.max(SHORTEST, Math.round((whole * row) / element)));
  const lines = Math.round((level * data) / line);
  const least = lines >= FEWEST ? '' : '; that would be less than the few lines that are drawn';
  return { size: Math.max(FEWEST, lines) * line, line, words: `${what}, scaled with what is drawn: ${bytes(level * data)}${least}` };
}

interface Lines {
  size: number;
  line: number;
  words: string;
}

interface Shape {
  name: string;
  low: number[];
  extent: number[];
  start: number;
  bytes: number;
  cells: number;
}
interface Event {
  shape: number;
  element: number;
  writes: boolean;
  when: number;
}

export class CachePane {
  readonly element = h('section', { class: 'pane cache', 'aria-label': 'Cache lines' });
  private chosen: Partial<Lines> = {}; // what somebody took instead of the machine's
  private shapes: Shape[] = [];
  private events: Event[] = [];
  private squares: SVGElement[][] = [];
  private readonly told = h('output', {});
  private read: unknown = null;
  private together = false;

  constructor(private readonly state: State) {
    state.onMachine(() => {
      if (this.element.isConnected) this.draw();
    });
  }

  private get lines(): Lines {
    const { domain } = this.state.data;
    const own = scaled(this.state.machine, domain.scale, Math.max(1, ...Object.values(domain.arrays)));
    const { size = own.size, line = own.line } = this.chosen;
    return size === own.size && line === own.line ? own : { size, line, words: 'a cache of your choice' };
  }

  draw(): void {
    if (this.stale) this.gather();
    [this.read, this.together] = [this.state.data, this.state.together];
    this.squares = this.shapes.map((shape) => Array.from({ length: shape.cells }, (_, i) => this.square(shape, i)));
    const grids = this.shapes.map((shape, i) => this.grid(shape, this.squares[i]));
    const { size, line, words } = this.lines;
    const choose = (label: string, known: number[], now: number, take: (n: number) => void) =>
      h(
        'label',
        { class: 'dial' },
        h('span', { class: 'soft' }, label),
        h(
          'select',
          {
            change: (event: Event_) => {
              take(Number((event.target as HTMLSelectElement).value));
              this.draw();
            },
          },
          ...[...new Set([...known, now])].sort((a, b) => a - b).map((n) => h('option', { value: n, selected: n === now }, bytes(n))),
        ),
      );
    this.element.replaceChildren(
      h('h3', {}, 'Cache lines while it runs'),
      h(
        'div',
        { class: 'machine' },
        choose('cache', SIZES, size, (n) => (this.chosen.size = n)),
        choose('line', LINES, line, (n) => (this.chosen.line = n)),
        button('machine', () => this.choose({}), { class: 'cache-own', title: "the machine's first cache, scaled with what is drawn" }),
        this.told,
      ),
      h(
        'div',
        { class: 'legend' },
        ...['held', 'hit', 'miss'].map((name) => h('span', { class: 'key' }, h('i', { class: `cell-key ${name}` }), KEYS[name])),
      ),
      h('div', { class: 'grids' }, ...grids),
      h(
        'p',
        { class: 'note' },
        `Here: ${words}. It is fully associative, what was used least recently leaves, all threads share it: it shows lines come and go, and foretells no processor. Move the time slider of the domain.`,
      ),
    );
    this.light();
  }

  private choose(chosen: Partial<Lines>): void {
    this.chosen = chosen;
    this.draw();
  }

  private get stale(): boolean {
    return this.read !== this.state.data || this.together !== this.state.together;
  }

  /** Arrays with their extents, and every touch in the order of execution. */
  private gather(): void {
    const { data } = this.state;
    const found = new Map<string, { low: number[]; high: number[] }>();
    for (const own of data.domain.statements) {
      for (const { array, cells } of own.accesses) {
        if (!cells) continue;
        const known = found.get(array) ?? { low: Array<number>(cells[2]).fill(Infinity), high: Array<number>(cells[2]).fill(-Infinity) };
        for (let row = 0; row < cells[1]; row += 1) {
          for (let d = 0; d < cells[2]; d += 1) {
            const value = data.at(cells, row, d);
            known.low[d] = Math.min(known.low[d], value);
            known.high[d] = Math.max(known.high[d], value);
          }
        }
        found.set(array, known);
      }
    }
    let start = 0;
    this.shapes = [...found].map(([name, { low, high }]) => {
      const extent = low.map((v, d) => Math.max(0, high[d] - v + 1));
      const shape = { name, low, extent, start, bytes: data.domain.arrays[name] ?? 4, cells: extent.reduce((a, b) => a * b, 1) };
      start += Math.ceil((shape.cells * shape.bytes) / 64) * 64;
      return shape;
    });
    this.events = this.touches();
  }

  private touches(): Event[] {
    const { data } = this.state;
    const found: Event[] = [];
    data.domain.statements.forEach((own, statement) => {
      for (const { array, kind, cells } of own.accesses) {
        const shape = this.shapes.findIndex((one) => one.name === array);
        for (let row = 0; cells && row < cells[1]; row += 1) {
          let element = 0;
          for (let d = 0; d < cells[2]; d += 1)
            element = element * this.shapes[shape].extent[d] + data.at(cells, row, d) - this.shapes[shape].low[d];
          found.push({ shape, element, writes: kind === 'write', when: this.state.when(statement, row) });
        }
      }
    });
    return found.sort((a, b) => a.when - b.when || Number(a.writes) - Number(b.writes));
  }

  private square(shape: Shape, i: number): SVGElement {
    const across = shape.extent.at(-1) ?? 1;
    const down = shape.extent.at(-2) ?? 1;
    const block = Math.floor(i / (across * down));
    const [x, y] = [i % across, Math.floor(i / across) % down];
    return s('rect', {
      class: 'mem',
      x: x * 12 + (block % 4) * (across * 12 + 8),
      y: y * 12 + Math.floor(block / 4) * (down * 12 + 8),
      width: 11,
      height: 11,
      rx: 1.5,
    });
  }

  private grid(shape: Shape, squares: SVGElement[]): HTMLElement {
    const [across, down] = [shape.extent.at(-1) ?? 1, shape.extent.at(-2) ?? 1];
    const blocks = shape.cells / Math.max(1, across * down);
    const [wide, high] = [Math.min(4, blocks) * (across * 12 + 8), Math.ceil(blocks / 4) * (down * 12 + 8)];
    const head = h('b', {}, `${shape.name}(${shape.extent.join(' × ')})`);
    if (shape.cells > MOST_CELLS)
      return h('div', { class: 'grid-of' }, head, h('p', { class: 'note' }, `${numberOf(shape.cells, 'cell')}: too many to draw`));
    return h(
      'div',
      { class: 'grid-of' },
      head,
      s(
        'svg',
        { class: 'chart', width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: 'img', 'aria-label': `cells of ${shape.name}` },
        ...squares,
      ),
    );
  }

  /** The cache after what has run: everything, or up to the time slider. */
  light(): void {
    if (!this.element.isConnected) return;
    if (this.stale) return this.draw();
    const until = this.state.time ?? Infinity;
    const held = new Map<number, true>();
    const { size, line: long } = this.lines;
    const most = Math.max(1, Math.floor(size / long));
    let [hits, touches] = [0, 0];
    let last: [Event, boolean][] = [];
    for (const event of this.events) {
      if (event.when >= until) break;
      const line = this.lineOf(event, long);
      const hit = held.delete(line);
      held.set(line, true);
      const [oldest] = held.keys();
      if (held.size > most) held.delete(oldest);
      hits += Number(hit);
      touches += 1;
      if (last.length && last[0][0].when !== event.when) last = [];
      last.push([event, hit]);
    }
    this.told.textContent = `${touches} touches, ${touches - hits} misses (${touches ? Math.round((100 * hits) / touches) : 0} % found), ${bytes((touches - hits) * long)} brought in`;
    this.shapes.forEach((_, i) =>
      this.squares[i]?.forEach((square, element) => {
        square.setAttribute('class', `mem${held.has(this.lineOf({ shape: i, element } as Event, long)) ? ' held' : ''}`);
      }),
    );
    if (this.state.time !== null)
      for (const [event, hit] of last) this.squares[event.shape]?.[event.element]?.classList.add(hit ? 'hit' : 'miss');
  }

  private lineOf({ shape, element }: Event, line: number): number {
    const own = this.shapes[shape];
    return Math.floor((own.start + element * own.bytes) / line);
  }
}

type Event_ = globalThis.Event;
const KEYS: Record<string, string> = { held: 'its line is in the cache', hit: 'touched now, found', miss: 'touched now, brought in' };
