// The domain pane: a plot for each nest, with its axes, its sliders and what one point touches.

import { toggles } from '../plot/arrows';
import { CROWD, keyOf } from './choice';
import type { RoomFor } from './choice';
import { Chooser } from './chooser';
import { button, h } from '../tools/dom';
import { best, height, largest, space, stands, twoFit } from './filling';
import type { Needs, Stand } from './filling';
import { WHOLE, places } from '../plot/frame';
import { listen } from '../plot/gestures';
import { legend, nameDrawn } from '../plot/legend';
import { glyph, role } from '../tools/palette';
import { tell, told } from '../tools/hints';
import { MapKind, MapPane } from './map';
import { Plot } from '../plot/plot';
import { ReplayBar } from './replay';
import { Look, Scene, drawn, followed, scene, sliders } from '../plot/scene';
import type { State } from '../state/state';
import type { Nest, Statement } from '../state/messages';

const AROUND = 3; // pixels above what stands over another in a nest
const GAPS = 30; // pixels between the parts of the pane, and around them
const HINTS = ['drag over the points of a tile', 'right-click a loop'];
const MERGE = 'drag this name onto another nest to merge the two';
const FEW = 'arrows of one point only: point at another for its own'; // where all would cover the points
const FEW_RED = 'of each dependence in the wrong order one arrow';
const LEAVING = 700; // milliseconds to get from a button to its map
const ROWS = 4; // of pictures that a screen holds, by scrolling where it must: names of nests are dragged onto one another

export class DomainPane {
  private readonly replay: ReplayBar;
  readonly element = h('section', { class: 'pane domain', 'aria-label': 'Iteration domain' });
  plots: Plot[] = [];
  private stand: Stand = { columns: 1, beside: false };
  private wide = 500; // pixels of all pictures
  private unit: number | undefined; // pixels of a place at most, where the pane has a height of its own
  private readonly looks = new Map<string, Look>();
  private readonly seen = new Map<string, Nest>(); // as it was when its look was last used
  private readonly map: MapPane;
  private readonly chooser: Chooser;
  private of: unknown = null; // what was drawn last
  private waiting = 0; // until a map opens or closes, so that passing by does neither

  constructor(private readonly state: State) {
    this.replay = new ReplayBar(state);
    this.map = new MapPane(state);
    this.chooser = new Chooser(
      state,
      () => this.roomFor(),
      () => {
        this.draw();
        state.light();
      },
    );
    state.showNest = (statement) => this.chooser.showStatement(statement);
    this.map.element.addEventListener('mouseenter', () => window.clearTimeout(this.waiting));
    this.map.element.addEventListener('mouseleave', () => this.leaveMap());
    this.map.element.addEventListener('focusout', (event) => {
      if (!this.element.contains(event.relatedTarget as Node)) this.leaveMap();
    });
  }

  draw(): void {
    this.plots = [];
    this.map.close();
    this.replay.draw();
    this.wide = (this.element.clientWidth || 540) - 22;
    const shown = this.chooser.chosen();
    this.state.pictured = shown.flatMap(({ statements }) => statements.map((n) => this.state.data.domain.statements[n].name));
    const nests = shown.map((nest) => this.nest(nest));
    this.element.replaceChildren(
      this.tools(),
      this.map.element,
      this.hint() ?? '',
      this.chooser.element(shown) ?? '',
      h('div', { class: 'nests' }, ...nests),
      h('div', { class: 'under' }, this.replay.element, this.note()),
    );
    this.arrange(shown, nests);
    this.plotAll(shown, nests);
    this.reveal();
    this.bring(nests, shown);
  }

  /** In one column or two, as pictures become largest; where the pane grows with them, in two where both have room. */
  private arrange(shown: Nest[], nests: HTMLElement[]): void {
    const possible = stands(nests.length, this.wide);
    const chosen = this.fitted && this.element.clientHeight && !this.element.closest('.talk');
    const scenes = shown.map((nest) => this.scene(nest));
    const needs = (stand: Stand) => this.needs(stand, scenes, nests);
    this.stand = chosen ? best(possible, needs, this.wide, this.high) : possible[0];
    this.needs(this.stand, scenes, nests);
  }

  private scene(nest: Nest): Scene {
    return scene(this.state.data, nest, this.looks.get(this.key(nest))!);
  }

  /** What the pictures need where they stand so. */
  private needs(stand: Stand, scenes: Scene[], nests: HTMLElement[]): Needs[] {
    const { classList } = this.element.querySelector('.nests')!;
    classList.toggle('several', nests.length > 1);
    classList.toggle('stacked', nests.length > 1 && stand.columns === 1);
    classList.toggle('beside', stand.beside);
    nests.forEach((nest) => {
      const box = nest.querySelector<HTMLElement>('.plot-box')!;
      if (!box.firstChild) box.style.width = `${space(stand, this.wide)}px`;
    });
    const tall = (nest: HTMLElement, part: string) => nest.querySelector<HTMLElement>(`:scope > ${part}`)!.offsetHeight + AROUND;
    return nests.map((nest, i) => ({ places: places(scenes[i]), names: tall(nest, '.chips'), controls: tall(nest, '.controls') }));
  }

  /** Pixels of height for the pictures and what is chosen for them. */
  private get high(): number {
    const { element } = this;
    const tall = (e: Element) => (e as HTMLElement).offsetHeight;
    const around = [...element.children].filter((e) => !e.matches('.nests, .map')).reduce((sum, e) => sum + tall(e), 0);
    return element.clientHeight - around - GAPS;
  }

  /** The pictures, as high as what stands around them leaves room for; what they leave out stands in the note below. */
  private plotAll(shown: Nest[], nests: HTMLElement[]): void {
    const scenes = shown.map((nest) => this.scene(nest));
    const own = this.fitted && this.element.clientHeight > 0;
    this.unit = own ? largest(this.needs(this.stand, scenes, nests), this.stand, this.wide, this.high) : undefined;
    this.plots = shown.map((nest, i) => {
      const plot = this.plot(nest, scenes[i]);
      listen(plot);
      nests[i].querySelector('.plot-box')!.replaceWith(plot.element);
      return plot;
    });
    nameDrawn(this.element, this.plots, this.state.data);
    const note = this.element.querySelector<HTMLElement>('.under > .note')!;
    const [before, words] = [note.offsetHeight, this.words()];
    if (words === note.textContent) return;
    note.replaceWith(this.note());
    if (this.fitted && this.element.querySelector<HTMLElement>('.under > .note')!.offsetHeight > before) this.plotAll(shown, nests);
  }

  private plot(nest: Nest, known: Scene): Plot {
    const tall = this.unit === undefined ? undefined : height(places(known), this.unit);
    return new Plot(this.state, nest, this.looks.get(this.key(nest))!, space(this.stand, this.wide), tall, known);
  }

  /** After a step that was made by hand its nest is seen, where the pane does not hold all. */
  private bring(nests: HTMLElement[], shown: Nest[]): void {
    const { data, worked } = this.state;
    if (data === this.of) return;
    this.of = data;
    const at = shown.findIndex(({ statements }) => statements.some((n) => data.domain.statements[n].name === worked));
    if (!this.fitted || at < 0 || nests.length < 2) return;
    const [room, own] = [this.element, nests[at]].map((e) => e.getBoundingClientRect());
    const bottom = room.bottom - (this.element.querySelector<HTMLElement>('.under')?.offsetHeight ?? 0);
    const [up, down] = [own.top - room.top, own.bottom - bottom];
    if (up < 0 || down > 0) this.element.scrollTop += up < 0 ? up : Math.min(up, down + GAPS / 4);
  }

  /** How many pictures stand there at once: in a talk one, which fills the pane. */
  private roomFor(): RoomFor {
    const { clientWidth, clientHeight } = this.element;
    if (this.element.closest('.talk')) return { rows: 1, columns: 1 };
    const columns = twoFit(clientWidth - 22) ? 2 : 1;
    if (!this.fitted || !clientHeight) return { rows: Infinity, columns };
    return { rows: ROWS, columns };
  }

  /** What is drawn otherwise than it is; where that is long, its end is read where the mouse rests on it. */
  private note(): HTMLElement {
    const words = this.words();
    return h('p', { class: 'note', title: words }, words);
  }

  private words(): string {
    const red = this.state.refusal.pairs?.length ? FEW_RED : FEW;
    const few = this.plots.some(({ crowded }) => crowded) ? [red] : [];
    return [...few, ...this.state.data.domain.notes].join(' · ');
  }

  private get fitted(): boolean {
    return this.element.closest('.fitted') !== null;
  }

  /** What one may do with the mouse: one line, until it was read or somebody took a step. */
  private hint(): HTMLElement | null {
    if (told()) return null;
    const seen = () => {
      tell();
      this.draw();
      this.state.light();
    };
    const close = button('got it', seen, { class: 'hint-close' });
    return h('div', { class: 'hint', role: 'note', title: HINTS.join('; ') }, h('span', {}, HINTS.join(' · ')), close);
  }

  close(): void {
    this.replay.stop();
    this.map.close();
  }

  light(): void {
    this.chooser.follow(this.plots.map(({ nest }) => nest));
    for (const plot of this.plots) plot.light();
  }

  private tools(): HTMLElement {
    const modes = (['select', 'tile', 'skew'] as const).map((mode) =>
      button(MODES[mode].name, () => this.mode(mode), {
        class: 'mode',
        'aria-pressed': String(this.state.mode === mode),
        title: MODES[mode].hint,
        ...(mode === 'select' ? {} : this.mapping(mode)),
      }),
    );
    const maps = (['shift', 'reverse', 'interchange'] as const).map((kind) =>
      button(kind, () => this.pinMap(kind), {
        class: 'to-map',
        'data-map': kind,
        title: `${kind}: see what is legal, choose one`,
        ...this.mapping(kind),
      }),
    );
    return h(
      'div',
      { class: 'tools' },
      h('span', { class: 'group', role: 'group', 'aria-label': 'what dragging does' }, ...modes, ...maps),
      h('span', { class: 'group kinds' }, ...toggles(this.state, () => this.draw())),
      legend(this.state.data) ?? '',
    );
  }

  private mode(mode: 'select' | 'tile' | 'skew'): void {
    this.map.close();
    this.state.mode = mode;
    this.element.dataset.mode = mode;
    this.element.querySelectorAll('.mode').forEach((b) => b.setAttribute('aria-pressed', String(b.textContent === MODES[mode].name)));
    this.state.say(MODES[mode].hint);
  }

  // -- the legality map ------------------------------------------------------------------------------------------------

  /** Looking at a kind of step shows what of it is legal; arrow down goes into the map. */
  private mapping(kind: MapKind) {
    const open = () => {
      window.clearTimeout(this.waiting);
      this.waiting = window.setTimeout(() => this.openMap(kind), 140);
    };
    return {
      mouseenter: open,
      focus: open,
      mouseleave: () => this.leaveMap(),
      blur: () => this.leaveMap(),
      keydown: (event: KeyboardEvent) => {
        if (event.key === 'Escape') this.map.close();
        if (event.key !== 'ArrowDown') return;
        event.preventDefault();
        this.openMap(kind, true);
      },
    };
  }

  private openMap(kind: MapKind, enter = false): void {
    window.clearTimeout(this.waiting);
    const plot = this.pointed();
    if (!plot?.look.x || !this.element.isConnected) return;
    void this.map.open(kind, { statement: plot.largest.name, x: plot.look.x, y: plot.look.y }, enter);
  }

  private pinMap(kind: MapKind): void {
    window.clearTimeout(this.waiting);
    this.openMap(kind, true);
    this.map.pinned = true;
  }

  private leaveMap(): void {
    window.clearTimeout(this.waiting);
    if (this.map.pinned) return;
    this.waiting = window.setTimeout(() => {
      if (!this.map.element.matches(':hover, :focus-within')) this.map.close();
    }, LEAVING);
  }

  /** The plot that a map is of: the one last pointed at, else the one with the most dims. */
  private pointed(): Plot | undefined {
    const known = this.plots.find((plot) => this.key(plot.nest) === this.state.pointed);
    return known ?? this.plots.reduce<Plot | undefined>((a, b) => (a && a.largest.dims.length >= b.largest.dims.length ? a : b), undefined);
  }

  private key(nest: Nest): string {
    return keyOf(this.state.data, nest);
  }

  private look(nest: Nest): Look {
    const key = this.key(nest);
    const known = this.looks.get(key);
    const look = followed(known ?? { x: nest.x, y: nest.y, at: {} }, this.seen.get(key), nest);
    this.looks.set(key, look);
    this.seen.set(key, nest);
    for (const dim of sliders(this.state.data, nest, look)) {
      const [low, high] = this.state.data.range(dim, nest.statements);
      const at = look.at[dim];
      if (at === undefined || (at !== null && (at < low || at > high))) look.at[dim] = high - low > 1 ? low + 1 : low;
    }
    if (!known && !this.connected(nest, look) && this.connected(nest, { ...look, at: all(look) })) look.at = all(look);
    return look;
  }

  /** Whether some dependence runs between points that are seen: where none does in one slice, all are shown at once. */
  private connected(nest: Nest, look: Look): boolean {
    const { data } = this.state;
    const { byRow } = scene(data, nest, look);
    return data.domain.arrows.some(({ source, target, pairs }) => {
      for (let i = 0; i < pairs[1]; i += 1) {
        const [a, b] = [byRow[source].get(data.at(pairs, i, 0)), byRow[target].get(data.at(pairs, i, 1))];
        if (a && b && a !== b) return true;
      }
      return false;
    });
  }

  /** A nest with room for its picture. */
  private nest(nest: Nest): HTMLElement {
    const look = this.look(nest);
    const plot = () => this.plots.find((one) => one.nest === nest)!;
    return h(
      'div',
      {
        class: 'nest',
        mouseenter: () => {
          this.state.pointed = this.key(nest);
        },
        ...this.dropping(nest),
      },
      this.names(nest, look),
      h('div', { class: 'plot-box' }),
      this.controls(nest, look, plot),
    );
  }

  private names(nest: Nest, look: Look): HTMLElement {
    const { data } = this.state;
    const axes = [look.x, look.y].filter(Boolean).join(', ');
    const many = nest.statements.length > CROWD;
    const tips = data.domain.nests.length > 1 ? [MERGE] : [];
    const chips = nest.statements.map((n) => {
      const own = data.domain.statements[n];
      const absent = !drawn(data, look, n);
      return h(
        'span',
        {
          class: `chip ${role(own.number)}${absent ? ' absent' : ''}`,
          draggable: 'true',
          title: [`${many || absent ? `${own.name}(${own.dims.join(', ')}): ` : ''}${own.does}`, ...tips].join('\n'),
          'data-statement': own.name,
          contextmenu: (event: MouseEvent) => this.state.openMenu({ statement: own.name }, event, event.currentTarget as HTMLElement),
          dragstart: (event: DragEvent) => event.dataTransfer?.setData('text/plain', `nest:${own.name}`),
          mouseenter: () => this.state.hover({ statement: own.name }),
          mouseleave: () => this.state.hover(null),
        },
        glyph(own.number),
        ` ${own.name}${many || absent ? '' : `(${own.dims.join(', ')})`}`,
        absent ? h('small', {}, ` not along ${axes}: choose another axis`) : null,
      );
    });
    const rest = (many ? [] : nest.statements.slice(1)).map((n) => data.domain.statements[n].name);
    const apart = rest.map((name) =>
      button(`split ${name} off`, () => void this.state.gesture('distribute', { statement: name }), {
        class: 'apart',
        title: `a nest of its own for ${name} and what follows it`,
      }),
    );
    return h('div', { class: 'chips' }, ...chips, ...apart);
  }

  /** A statement dropped here is merged with this nest. */
  private dropping(nest: Nest) {
    const own = this.state.data.domain.statements[nest.statements[0]].name;
    return {
      dragover: (event: DragEvent) => event.preventDefault(),
      drop: (event: DragEvent) => {
        event.preventDefault();
        const [what, other] = (event.dataTransfer?.getData('text/plain') ?? '').split(':');
        if (what === 'nest' && other) void this.state.gesture('merge', { first: other, second: own });
      },
    };
  }

  private controls(nest: Nest, look: Look, plot: () => Plot): HTMLElement {
    const choose = (axis: 'x' | 'y') =>
      h(
        'label',
        {},
        `${axis} `,
        h(
          'select',
          {
            'data-axis': axis,
            change: (event: Event) => {
              const chosen = (event.target as HTMLSelectElement).value;
              const other = axis === 'x' ? 'y' : 'x';
              if (look[other] === chosen) look[other] = look[axis];
              look[axis] = chosen;
              this.draw();
            },
          },
          ...nest.axes.map((name) => h('option', { value: name, selected: name === look[axis] }, name)),
        ),
      );
    const axes = h(
      'div',
      { class: 'axes' },
      look.x ? choose('x') : null,
      look.y ? choose('y') : null,
      look.x && look.y
        ? button(`interchange ${look.x}, ${look.y}`, () => this.interchange(nest, look), {
            class: 'interchange',
            title: `a step of the schedule: the loop of ${look.x} and the loop of ${look.y} in each other's place`,
          })
        : null,
      h(
        'span',
        { class: 'pair' },
        button('−', () => plot().zoom(0.8), { 'aria-label': 'zoom out' }),
        button('+', () => plot().zoom(1.25), { 'aria-label': 'zoom in' }),
        button('fit', () => plot().move(WHOLE), { class: 'fit', title: 'the whole picture' }),
      ),
    );
    const several = (dim: string) => this.state.data.range(dim, nest.statements)[1] > this.state.data.range(dim, nest.statements)[0];
    const rows = sliders(this.state.data, nest, look)
      .filter(several)
      .map((dim) => this.slider(nest, look, dim));
    return h('div', { class: 'controls' }, axes, ...rows, look.x ? this.byNumbers(nest, look) : null);
  }

  private slider(nest: Nest, look: Look, dim: string): HTMLElement {
    const [low, high] = this.state.data.range(dim, nest.statements);
    const value = look.at[dim];
    const text = h('output', {}, value ?? `${low}…${high}`);
    const range = h('input', {
      type: 'range',
      min: low,
      max: high,
      value: value ?? low,
      disabled: value === null,
      'data-dim': dim,
      'aria-label': `value of ${dim}`,
      input: (event: Event) => {
        look.at[dim] = Number((event.target as HTMLInputElement).value);
        text.textContent = String(look.at[dim]);
        this.redraw(nest, look);
      },
    });
    const all = h('input', {
      type: 'checkbox',
      checked: value === null,
      change: (event: Event) => {
        look.at[dim] = (event.target as HTMLInputElement).checked ? null : low;
        this.draw();
      },
    });
    return h(
      'div',
      { class: `slider${value === null ? ' all' : ''}` },
      h('span', { class: 'dim' }, dim),
      range,
      text,
      h('label', {}, all, 'all'),
    );
  }

  /** The plot of a nest anew, its controls as they are: a slider must not lose the hand that holds it. */
  private redraw(nest: Nest, look: Look): void {
    const place = this.plots.findIndex((plot) => plot.nest === nest);
    const before = this.plots[place];
    const plot = this.plot(nest, scene(this.state.data, nest, look));
    listen(plot);
    before.element.replaceWith(plot.element);
    this.plots[place] = plot;
    nameDrawn(this.element, this.plots, this.state.data);
    this.element.querySelector('.under > .note')?.replaceWith(this.note());
  }

  /** The drags as numbers, for the keyboard. */
  private byNumbers(nest: Nest, look: Look): HTMLElement {
    const number = (axis: string) => h('input', { type: 'number', min: 1, value: 1, 'aria-label': `tile size along ${axis}` });
    const named = (axis: string, input: HTMLElement) => h('label', { class: 'tile-along' }, h('span', { class: 'dim' }, axis), input);
    const [width, height] = [number(look.x), number(look.y)];
    const send = () =>
      void this.state.gesture('tile', {
        statement: this.largest(nest).name,
        x: look.x,
        y: look.y,
        width: Number(width.value),
        height: Number(height.value),
      });
    return h(
      'div',
      { class: 'numbers' },
      'tile ',
      named(look.x, width),
      look.y ? ' × ' : '',
      look.y ? named(look.y, height) : null,
      ' ',
      button('apply', send, { class: 'tile-apply' }),
    );
  }

  private largest(nest: Nest): Statement {
    const own = nest.statements.map((n) => this.state.data.domain.statements[n]);
    return own.reduce((a, b) => (b.dims.length > a.dims.length ? b : a));
  }

  private interchange(nest: Nest, look: Look): void {
    void this.state.gesture('interchange', { statement: this.largest(nest).name, first: look.x, second: look.y });
  }

  /** Axes and sliders move so that a refused step's witness is seen, once for each refusal. */
  reveal(): void {
    const { data, refusal } = this.state;
    const wrong = refusal.pairs?.find((w) => w.pairs.length);
    if (!wrong || this.revealed === refusal) return;
    const ends = [wrong.source, wrong.target].map((name) => data.statement(name));
    const nest = this.chooser.ofBoth(ends);
    const found = () => this.plots.find((one) => nest && this.key(one.nest) === this.key(nest));
    if (nest && !found() && this.changed !== refusal) {
      this.changed = refusal;
      this.chooser.take(nest);
      return this.draw();
    }
    const plot = found();
    this.revealed = refusal;
    if (!plot) return;
    const value = (end: 0 | 1, dim: string) =>
      wrong.pairs[0][end][data.domain.statements[ends[end]].dims.indexOf(dim)] as number | undefined;
    const moves = (dim: string) => value(0, dim) !== undefined && value(1, dim) !== undefined && value(0, dim) !== value(1, dim);
    const moving = plot.nest.axes.filter(moves);
    if (moving.length && !moving.includes(plot.look.x) && !moving.includes(plot.look.y)) plot.look.x = moving[0];
    for (const dim of sliders(data, plot.nest, plot.look)) plot.look.at[dim] = moves(dim) ? null : (value(1, dim) ?? value(0, dim) ?? null);
    this.draw();
  }
  private revealed: unknown = null;
  private changed: unknown = null; // the refusal for which another picture was taken already
}

const all = (look: Look): Record<string, null> => Object.fromEntries(Object.keys(look.at).map((dim) => [dim, null]));

const MODES = {
  select: { name: 'select', hint: 'click a point to light what belongs to it' },
  tile: { name: 'tile', hint: 'drag over as many points as a tile should have' },
  skew: { name: 'skew', hint: 'drag along one axis: each row moves so much further than the one before' },
};
