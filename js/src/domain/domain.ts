// The domain pane: a plot for each nest, with its axes, its sliders and what one point touches.

import type { RoomFor } from './choice';
import { Chooser } from './chooser';
import { button, h } from '../tools/dom';
import { best, height, largest, space, stands, twoFit } from './filling';
import type { Needs, Stand } from './filling';
import { places } from '../plot/frame';
import { listen } from '../plot/gestures';
import { nameDrawn } from '../plot/legend';
import { tell, told } from '../tools/hints';
import { Controls } from './controls';
import { Looks } from './looks';
import { dropping, names } from './names';
import { Toolbar } from './toolbar';
import { Plot } from '../plot/plot';
import { ReplayBar } from './replay';
import { scene } from '../plot/scene';
import type { Look, Scene } from '../plot/scene';
import type { State } from '../state/state';
import type { Nest } from '../state/messages';

const AROUND = 3; // pixels above what stands over another in a nest
const GAPS = 30; // pixels between the parts of the pane, and around them
const HINTS = ['drag over the points of a tile', 'right-click a loop'];
const FEW = 'arrows of one point only: point at another for its own'; // where all would cover the points
const FEW_RED = 'of each dependence in the wrong order one arrow';
const ROWS = 4; // of pictures that a screen holds, by scrolling where it must: names of nests are dragged onto one another

export class DomainPane {
  private readonly replay: ReplayBar;
  readonly element = h('section', { class: 'pane domain', 'aria-label': 'Iteration domain' });
  plots: Plot[] = [];
  private stand: Stand = { columns: 1, beside: false };
  private wide = 500; // pixels of all pictures
  private unit: number | undefined; // pixels of a place at most, where the pane has a height of its own
  private readonly looks: Looks;
  private readonly toolbar: Toolbar;
  private readonly chooser: Chooser;
  private of: unknown = null; // what was drawn last

  constructor(private readonly state: State) {
    this.replay = new ReplayBar(state);
    this.looks = new Looks(state);
    const again = () => {
      this.draw();
      state.light();
    };
    this.toolbar = new Toolbar(
      state,
      this.element,
      () => this.pointed(),
      () => this.draw(),
    );
    this.chooser = new Chooser(state, () => this.roomFor(), again);
    state.showNest = (statement) => this.chooser.showStatement(statement);
  }

  draw(): void {
    this.plots = [];
    this.toolbar.map.close();
    this.replay.draw();
    this.wide = (this.element.clientWidth || 540) - 22;
    const shown = this.chooser.chosen();
    this.state.pictured = shown.flatMap(({ statements }) => statements.map((n) => this.state.data.domain.statements[n].name));
    const nests = shown.map((nest) => this.nest(nest));
    this.element.replaceChildren(
      this.toolbar.element(),
      this.toolbar.map.element,
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
    return scene(this.state.data, nest, this.looks.of(nest));
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
    return new Plot(this.state, nest, this.looks.of(nest), space(this.stand, this.wide), tall, known);
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
    this.toolbar.map.close();
  }

  light(): void {
    this.chooser.follow(this.plots.map(({ nest }) => nest));
    for (const plot of this.plots) plot.light();
  }

  /** The plot that a map is of: the one last pointed at, else the one with the most dims. */
  private pointed(): Plot | undefined {
    const known = this.plots.find((plot) => this.looks.key(plot.nest) === this.state.pointed);
    return known ?? this.plots.reduce<Plot | undefined>((a, b) => (a && a.largest.dims.length >= b.largest.dims.length ? a : b), undefined);
  }

  /** A nest with room for its picture. */
  private nest(nest: Nest): HTMLElement {
    const look = this.looks.take(nest);
    const plot = () => this.plots.find((one) => one.nest === nest)!;
    return h(
      'div',
      {
        class: 'nest',
        mouseenter: () => {
          this.state.pointed = this.looks.key(nest);
        },
        ...dropping(this.state, nest),
      },
      names(this.state, nest, look),
      h('div', { class: 'plot-box' }),
      new Controls(this.state, nest, look, { plot, draw: () => this.draw(), redraw: () => this.redraw(nest, look) }).element,
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

  /** Axes and sliders move so that a refused step's witness is seen, once for each refusal. */
  reveal(): void {
    const { data, refusal } = this.state;
    const wrong = refusal.pairs?.find((w) => w.pairs.length);
    if (!wrong || this.revealed === refusal) return;
    const ends = [wrong.source, wrong.target].map((name) => data.statement(name));
    const nest = this.chooser.ofBoth(ends);
    const found = () => this.plots.find((one) => nest && this.looks.key(one.nest) === this.looks.key(nest));
    if (nest && !found() && this.changed !== refusal) {
      this.changed = refusal;
      this.chooser.take(nest);
      return this.draw();
    }
    const plot = found();
    this.revealed = refusal;
    if (!plot) return;
    this.looks.reveal(plot, wrong, ends);
    this.draw();
  }
  private revealed: unknown = null;
  private changed: unknown = null; // the refusal for which another picture was taken already
}
