// A model: its graph with modules that fold, the time of its nodes, its memory; a call opens its operator beside.

import { numberOf } from '../tools/quantities';
import { button, h, s } from '../tools/dom';
import { Figure } from './figure';
import { marker } from './marks';
import type { State } from '../state/state';
import type { ModelPicture, NetworkData, Place } from '../state/messages';

type View = 'graph' | 'time' | 'memory';
const VIEWS: Record<View, string> = { graph: 'graph', time: 'time of nodes', memory: 'memory' };

export class ModelPane {
  readonly element = h('section', { class: 'pane model', 'aria-label': 'Model' });
  private view: View = 'graph';
  private readonly figures: Record<View, Figure>;
  private readonly detail = h('p', { class: 'detail', role: 'status', 'aria-live': 'polite' });
  private drawn: View | null = null;

  constructor(private readonly state: State) {
    const actions = { say: (p: Place | null) => this.say(p), enter: (p: Place) => this.enter(p), fold: (p: Place) => this.fold(p) };
    const made = (label: string) => new Figure(label, actions);
    this.figures = { graph: made('graph of the model'), time: made('time of its nodes'), memory: made('its memory over time') };
  }

  private get data(): Partial<NetworkData> {
    return this.state.model.get('network');
  }

  draw(): void {
    const { data } = this;
    if (!data.graph) {
      this.element.replaceChildren(h('h3', {}, 'Model'), h('p', { class: 'note' }, 'this panel shows no model: wb.panel(model) does'));
      return;
    }
    const picture = this.picture;
    const open = this.element.querySelector<HTMLDetailsElement>('details.modules')?.open ?? false;
    const focused = this.focused();
    this.element.replaceChildren(
      this.head(),
      ...(data.facts ?? []).map((fact) => h('p', { class: 'note' }, fact)),
      ...(this.view === 'graph' ? [this.legend()] : []),
      h('div', { class: 'drawing-box' }, ...(picture ? [this.figures[this.view].element] : [])),
      ...(picture ? [] : [h('p', { class: 'note' }, this.missing())]),
      this.detail,
      ...(this.view === 'graph' ? [this.modules(open)] : []),
      h('details', { class: 'words' }, h('summary', {}, 'in words'), h('pre', { tabindex: 0 }, picture?.words ?? '')),
    );
    if (picture) this.figures[this.view].show(picture, this.width(), this.drawn === this.view);
    this.drawn = this.view;
    focused();
    this.say(null);
  }

  private get picture(): ModelPicture | null {
    return (this.view === 'graph' ? this.data.graph : this.data[this.view]) ?? null;
  }

  private width(): number {
    const box = this.element.querySelector('.drawing-box');
    return Math.max(260, Math.floor(box?.clientWidth ?? 0) || 800);
  }

  private missing(): string {
    if (this.view === 'time') return 'no times: wb.panel(built, profile=built.profile(...)) shows them';
    return this.data.why_no_memory ?? '';
  }

  /** A redraw makes buttons and boxes anew: the keyboard stays where it was. */
  private focused(): () => void {
    const now = document.activeElement as HTMLElement | null;
    const name = now && this.element.contains(now) ? now.dataset.name : undefined;
    return () => {
      if (name) this.element.querySelector<HTMLElement>(`[data-name="${CSS.escape(name)}"]`)?.focus({ preventScroll: true });
    };
  }

  // -- what stands around the picture --------------------------------------------------------------------------------------

  private head(): HTMLElement {
    const { stages = [], stage = 0, colours } = this.data;
    const figure = this.figures[this.view];
    const views = (Object.keys(VIEWS) as View[]).map((name) =>
      button(VIEWS[name], () => this.look(name), { 'aria-pressed': String(name === this.view), 'data-name': `view-${name}` }),
    );
    return h(
      'h3',
      {},
      'Model',
      h('span', { class: 'group', role: 'group', 'aria-label': 'what is shown' }, ...views),
      ...(this.view === 'graph' && stages.length > 1 ? [this.select('stage', stages, stage, (at) => this.ask('stage', String(at)))] : []),
      ...(this.view === 'graph' && stages.length > 1 && stage > 0
        ? [
            this.select('colours', ['kinds', 'changes'], colours === 'changes' ? 1 : 0, (at) =>
              this.ask('colours', ['kinds', 'changes'][at]),
            ),
          ]
        : []),
      h('span', { class: 'space' }),
      button('−', () => figure.zoom(0.8), { 'aria-label': 'zoom out', 'data-name': 'out' }),
      button('+', () => figure.zoom(1.25), { 'aria-label': 'zoom in', 'data-name': 'in' }),
      button('fit', () => figure.fit(), { 'data-name': 'fit', title: 'all of it (0)' }),
    );
  }

  private select(label: string, options: string[], at: number, chosen: (at: number) => void): HTMLElement {
    const made = h(
      'select',
      { 'aria-label': label, 'data-name': label, change: () => chosen(made.selectedIndex) },
      ...options.map((text, n) => h('option', { selected: n === at }, text)),
    );
    return made;
  }

  private legend(): HTMLElement {
    const { legend = '', meanings = [] } = this.data;
    const items = meanings.map(({ role, shape, words }) => {
      const sample = role
        ? s('svg', { width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true' }, marker(role, shape, 4.6))
        : null;
      return h('li', {}, sample, words);
    });
    return h(
      'ul',
      { class: 'legend', 'aria-label': `colours: ${legend}` },
      h('li', { class: 'soft' }, legend ? `${legend}:` : ''),
      ...items,
    );
  }

  private modules(open: boolean): HTMLElement {
    const { modules = [] } = this.data;
    const items = modules.map(({ name, depth, count, folded }) =>
      h(
        'li',
        { style: `padding-left:${depth * 16}px` },
        h(
          'label',
          {},
          h('input', { type: 'checkbox', checked: !folded, 'data-name': `module-${name}`, change: () => this.ask('fold', name) }),
          ` ${name} `,
          h('span', { class: 'soft' }, numberOf(count, 'node')),
        ),
      ),
    );
    return h(
      'details',
      { class: 'modules', open, hidden: !modules.length },
      h('summary', {}, `modules, functions and branches (${modules.length}): those that are checked stand open`),
      h(
        'p',
        {},
        button('fold all', () => this.ask('fold', ''), { 'data-name': 'fold-all' }),
        ' ',
        button('open all', () => this.ask('fold', '*'), { 'data-name': 'open-all' }),
      ),
      h('ul', { class: 'folds' }, ...items),
    );
  }

  // -- what is done --------------------------------------------------------------------------------------------------------

  private ask(what: 'open' | 'fold' | 'stage' | 'colours' | 'memory', name = ''): void {
    void this.state.ask('network', { do: what, what: name });
  }

  private look(view: View): void {
    this.view = view;
    if (view === 'memory' && !this.data.memory && !this.data.why_no_memory) this.ask('memory');
    this.draw();
  }

  private enter(place: Place): void {
    if (place.opens) this.ask('open', place.opens);
    else if (place.module && place.id.startsWith('f')) this.ask('fold', place.module);
  }

  private fold(place: Place): void {
    if (place.module) this.ask('fold', place.module);
  }

  private say(place: Place | null): void {
    if (place) {
      const does = place.opens ? 'Enter opens its operator' : place.id.startsWith('f') && place.module ? 'Enter opens the module' : '';
      const folds = place.module && !place.id.startsWith('f') ? `f folds ${place.module}` : '';
      const hint = [does, folds].filter(Boolean).join(', ');
      this.detail.replaceChildren(h('b', {}, place.words), ` ${place.details.join(' · ')} `, h('span', { class: 'soft' }, hint));
      return;
    }
    const { opened, graph } = this.data;
    const now = graph?.places.find((each) => each.id === opened);
    this.detail.textContent = now
      ? `the other panes show ${now.words}`
      : 'point at a node, or walk with arrows; click opens the operator of a call, or a folded module; Ctrl and the wheel zoom';
  }
}
