// The legality map: a small grid of steps, judged a few at a time while it is looked at, coloured by memory traffic.

import { button, h } from '../tools/dom';
import { LEVELS, moved } from '../state/levels';
import { bytes } from '../tools/quantities';
import { MachineBar } from '../machine/machine';
import type { State } from '../state/state';
import type { LegalityMap, Spot } from '../state/messages';

export type MapKind = 'tile' | 'skew' | 'shift' | 'reverse' | 'interchange';
export interface Subject {
  statement: string;
  x: string;
  y: string;
}

const GAP = 6; // pixels between the map and its pane
const HUES = 5; // steps of the heat, from few bytes to many

export class MapPane {
  readonly element = h('div', {
    class: 'map',
    role: 'dialog',
    'aria-label': 'legality map',
    hidden: true,
    keydown: (event: KeyboardEvent) => this.keys(event),
  });
  private found: LegalityMap | null = null;

  private level = 0;
  private turn = 0; // a later question makes the earlier ones stop
  private spots: HTMLButtonElement[] = [];
  private readonly about = h('p', { class: 'about', 'aria-live': 'polite' });
  private readonly machine: MachineBar;
  pinned = false;

  constructor(private readonly state: State) {
    this.machine = new MachineBar(state);
    state.onMachine(() => this.paint());
  }

  close(): void {
    this.turn += 1;
    this.pinned = false;
    this.found = null;
    this.element.hidden = true;
  }

  /** Ask for the map and go on asking for the cells that are not known, nearest to the middle first. */
  async open(kind: MapKind, of: Subject, enter = false): Promise<void> {
    const mine = (this.turn += 1);

    this.found = null;
    this.about.textContent = 'point at a cell; a click takes the step';
    let left = null as number[] | null;
    const given = { kind, ...of };
    while (mine === this.turn) {
      const more = await this.state.answer('map', left ? { ...given, only: left } : { ...given, only: [] }, true);
      if (mine !== this.turn) return;
      if (!more) {
        this.close();
        return;
      }
      if (!this.found) {
        this.found = more;
        this.draw();
        if (!this.goAside() && !enter) {
          this.close(); // one may be about to drag on what it would cover
          this.state.say(`${more.title}: arrow down on its button opens the map`);
          return;
        }
        left = this.order();
        if (enter) this.element.querySelector<HTMLElement>('.spot[tabindex="0"]')?.focus();
      } else {
        Object.assign(this.found.cells, more.cells);
        left = (left ?? []).filter((i: number) => !(i in more.cells));
      }
      this.paint();
      if (!left.length) break;
    }
  }

  private order(): number[] {
    const { rows, columns, title } = this.found!;
    const places = rows.flatMap((_, r) => columns.map((_, c) => [r, c] as const));
    const asked = places.filter(([r, c]) => title !== 'interchange' || r < c);
    const away = ([r, c]: readonly [number, number]) =>
      title === 'tile' ? r + c : Math.hypot(r - (rows.length - 1) / 2, c - (columns.length - 1) / 2);
    return asked.sort((a, b) => away(a) - away(b)).map(([r, c]) => r * columns.length + c);
  }

  // -- drawing ---------------------------------------------------------------------------------------------------------

  private draw(): void {
    const { rows, columns, down, across, title } = this.found!;
    this.spots = rows.flatMap((_, r) => columns.map((_, c) => this.spot(r * columns.length + c, r, c)));
    const head = h('tr', {}, h('td', {}), ...columns.map((name) => h('th', { scope: 'col' }, name)));
    const body = rows.map((name, r) =>
      h('tr', {}, h('th', { scope: 'row' }, name), ...columns.map((_, c) => h('td', {}, this.spots[r * columns.length + c]))),
    );
    const tabs = LEVELS.map((name, i) =>
      button(
        name,
        () => {
          this.level = i;
          this.draw();
          this.goAside();
          this.paint();
        },
        { 'aria-pressed': String(i === this.level), class: 'level' },
      ),
    );
    this.element.hidden = false;
    this.element.replaceChildren(
      h(
        'h3',
        {},
        `${title}: what would be legal`,
        h('span', { class: 'space' }),
        button('close', () => this.close(), { class: 'close-map' }),
      ),
      h(
        'table',
        { role: 'grid', 'aria-label': `${title}: ${down} down, ${across} across` },
        h('caption', {}, `${down ? `↓ ${down}  ` : ''}→ ${across}`),
        h('tbody', {}, head, ...body),
      ),
      h(
        'div',
        { class: 'legend' },
        h('span', { class: 'soft' }, 'bytes through'),
        ...tabs,
        h('span', { class: 'scale' }),
        h('span', { class: 'key' }, h('i', { class: 'spot no' }), 'illegal'),
        title === 'tile' ? h('span', { class: 'key' }, h('i', { class: 'spot whole' }), 'whole vectors') : null,
      ),
      this.machine.element,
      this.about,
      h('p', { class: 'note' }, [this.found!.note, 'bytes estimated by boxes'].filter(Boolean).join('; ')),
    );
    this.element.querySelector<HTMLElement>('.spot[data-spot]')?.setAttribute('tabindex', '0');
  }

  /** Beside its pane, as one may want to drag on the picture; false where it covers that, as there is no room. */
  private goAside(): boolean {
    const { element } = this;
    element.classList.remove('aside');
    [element.style.left, element.style.top] = ['', ''];
    const [panel, pane] = [element.closest('.wbp'), element.closest('.screen .slot')];
    if (!panel || !pane) return true;
    const { right, top } = pane.getBoundingClientRect();
    if (panel.matches('.talk') || panel.getBoundingClientRect().right - right < element.offsetWidth + 2 * GAP) return false;
    element.classList.add('aside'); // measured first: what it is placed against differs between browsers
    const box = element.getBoundingClientRect();
    [element.style.left, element.style.top] = [`${right + GAP - box.left}px`, `${top + GAP - box.top}px`];
    return true;
  }

  private spot(at: number, row: number, column: number): HTMLButtonElement {
    const look = () => this.tell(at);
    return h('button', {
      type: 'button',
      class: 'spot',
      'data-spot': at,
      'data-row': row,
      'data-column': column,
      tabindex: -1,
      mouseenter: look,
      focus: look,
      click: () => this.take(at),
    });
  }

  private cost(spot: Spot): number | null {
    const capacity = this.state.machine.cache_bytes[this.level];
    return spot.nodes.length && capacity ? moved(spot.nodes, this.found!.touches, capacity).bytes : null;
  }

  /** Colours anew: when cells arrive, and while a slider is moved. */
  paint(): void {
    if (!this.found || this.element.hidden) return;
    const { cells, columns, title } = this.found;
    const costs = Object.entries(cells)
      .filter(([, s]) => s.legal)
      .map(([, s]) => this.cost(s))
      .filter((n): n is number => n !== null);
    const [low, high] = [Math.min(...costs), Math.max(...costs)];
    const hue = (n: number) =>
      high > low ? Math.round(((Math.log(n + 1) - Math.log(low + 1)) / (Math.log(high + 1) - Math.log(low + 1))) * (HUES - 1)) : 0;
    const lanes = Math.max(1, this.state.machine.vector_bits / 32);
    this.spots.forEach((button, at) => {
      const spot = cells[at];
      const cost = spot ? this.cost(spot) : null;
      const whole = title === 'tile' && Number(columns[at % columns.length]) % lanes === 0;
      const none = title === 'interchange' && Math.floor(at / columns.length) >= at % columns.length;
      const colour = none ? 'none' : !spot ? 'unknown' : !spot.legal ? 'no' : `yes heat${cost === null ? 0 : hue(cost)}`;
      button.className = `spot ${colour}${spot?.legal && whole ? ' whole' : ''}${spot && !spot.step ? ' now' : ''}`;
      button.dataset.legal = spot ? String(spot.legal) : '';
      button.setAttribute('aria-label', spot ? this.words(spot, cost) : 'not judged yet');
    });
    const scale = this.element.querySelector('.scale');
    const shades = Array.from({ length: HUES }, (_, i) => h('i', { class: `spot heat${i}` }));
    scale?.replaceChildren(
      ...(!costs.length ? [] : high > low ? [bytes(low), ...shades, bytes(high)] : [`${bytes(low)}, the same for all`]),
    );
  }

  private words(spot: Spot, cost: number | null): string {
    const moves = cost === null ? '' : `, ${bytes(cost)} through ${LEVELS[this.level]}`;
    return spot.legal ? `${spot.text}: legal${moves}` : `${spot.text}: refused. ${spot.reason}`;
  }

  private tell(at: number): void {
    const spot = this.found?.cells[at];
    this.about.replaceChildren(
      ...(spot ? [h('code', {}, spot.text), ` ${this.words(spot, this.cost(spot)).slice(spot.text.length)}`] : ['']),
    );
  }

  // -- hands -----------------------------------------------------------------------------------------------------------

  private take(at: number): void {
    const spot = this.found?.cells[at];
    if (!spot?.step) return;
    this.close();
    void this.state.apply(spot.step, spot.text);
  }

  private keys(event: KeyboardEvent): void {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const now = event.target as HTMLElement;
    if (event.key === 'Escape') this.close();
    else if (move && now.dataset.spot) {
      const [r, c] = [Number(now.dataset.row) + move[0], Number(now.dataset.column) + move[1]];
      this.element.querySelector<HTMLElement>(`[data-row="${r}"][data-column="${c}"]`)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
