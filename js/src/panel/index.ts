// The panel: panes around one state.  anywidget calls `render` for every place in which the widget is shown.

import { CachePane } from '../machine/cache';
import { CellsPane } from '../domain/cells';
import { CodePane } from '../code/code';
import { numberOf } from '../tools/quantities';
import { Deck } from '../layout/deck';
import { button, h } from '../tools/dom';
import { warns } from '../tools/glossary';
import { DomainPane } from '../domain/domain';
import { OperatorPane } from '../code/editor';
import { ExportPane } from '../code/exports';
import { FlowPane } from '../graphs/flow';
import { FootprintPane } from '../machine/footprint';
import { HistoryPane } from '../schedule/history';
import { LanesPane } from '../machine/lanes';
import { pair, plan } from '../layout/layout';
import { MeasureButton } from '../schedule/measuring';
import { ModelPane } from '../graphs/model';
import { LoopMenu } from '../schedule/menu';
import { RefusalBar } from '../schedule/refusal';
import { RooflinePane } from '../machine/roofline';
import { State, same } from '../state/state';
import { GONE } from '../state/client';
import { StepsPane } from '../schedule/steps';
import { TreePane } from '../schedule/tree';
import { TrialsPane } from '../trials/trials';
import type { Model, Wire } from '../state/kernel';
import type { Arrangement, Machine, Traits } from '../state/messages';
import { Room } from '../layout/room';
import { WarpsPane } from '../machine/warps';

interface Pane {
  element: HTMLElement;
  draw(): void;
  light?(): void;
  close?(): void;
}

// Name → what its button says, and how it is made.  The order is that of the buttons.
const PANES: Record<string, [title: string, make: (state: State) => Pane]> = {
  model: ['model', (state) => new ModelPane(state)],
  trials: ['trials', (state) => new TrialsPane(state)],
  operator: ['operator', (state) => new OperatorPane(state)],
  domain: ['domain', (state) => new DomainPane(state)],
  code: ['code', (state) => new CodePane(state)],
  tree: ['loops', (state) => new TreePane(state)],
  steps: ['next steps', (state) => new StepsPane(state)],
  history: ['history', (state) => new HistoryPane(state)],
  dataflow: ['dataflow', (state) => new FlowPane(state)],
  footprint: ['memory', (state) => new FootprintPane(state)],
  cache: ['cache lines', (state) => new CachePane(state)],
  lanes: ['threads', (state) => new LanesPane(state)],
  roofline: ['roofline', (state) => new RooflinePane(state)],
  warps: ['warps', (state) => new WarpsPane(state)],
  export: ['export', (state) => new ExportPane(state)],
};
const DRAWN: (keyof Traits)[] = ['title', 'domain', 'tables', 'tree', 'past', 'source'];
const WATCHED: (keyof Traits)[] = [
  ...DRAWN,
  'code',
  'refusal',
  'offers',
  'selection',
  'views',
  'machine',
  'panes',
  'study',
  'export',
  'measured',
  'network',
  'arrangement',
];
const SETTLED = 900; // milliseconds without a step
// What does nothing without a kernel.
const ASKING =
  '.pane.steps, .pane.operator, .pane.export, .head .measuring, .head :is(.undo, .redo), .languages, .column-choices, .keeping, .history .pin,' +
  ' .moment, .measure-all, .films .film, .mode:not(:first-child), .numbers, .interchange, [data-map], .more-of, .refusal';
const TALK = 1.35; // how much larger everything is in a talk, as panel.css has it
const SIZED = ['domain', 'dataflow', 'footprint', 'roofline', 'trials']; // whose pictures are as large as their room

class Panel {
  private readonly state: State;
  private readonly model: Wire;
  private readonly made = new Map<string, Pane>();
  private readonly refusal: RefusalBar;
  private readonly cells: CellsPane;
  private readonly menu: LoopMenu;
  private readonly status = h('div', { class: 'status', role: 'status', 'aria-live': 'polite' });
  private readonly measure: MeasureButton;
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly deck = new Deck({
    hide: (name) => this.toggle(name),
    enlarge: (name) => this.enlarge(name),
    shares: () => this.shares,
    share: (shares, done) => this.spread(shares, done),
    resized: (name) => this.resized(name),
  });
  private shares: Record<string, number>;
  private readonly room: Room;
  private readonly talk: HTMLButtonElement;
  private readonly gone = h('span', { class: 'gone', role: 'alert', hidden: true }, GONE);
  private readonly title = h('b', { class: 'title' });
  private readonly sizes = h('span', { class: 'soft sizes' });
  private readonly choice = h('span', { class: 'choice', role: 'group', 'aria-label': 'panes that are shown' });
  private readonly watcher: ResizeObserver;
  private before: Record<string, unknown> = {};
  private waiting = false;
  readonly root: HTMLElement;

  constructor(own: Model) {
    const state = (this.state = new State(own));
    const model = (this.model = state.model);
    this.refusal = new RefusalBar(state);
    this.cells = new CellsPane(state);
    this.menu = new LoopMenu(state);
    this.measure = new MeasureButton(state);
    this.undo = button('↶ undo', () => void state.ask('undo', {}), { class: 'undo', title: 'undo (Ctrl+Z)' });
    this.redo = button('↷ redo', () => void state.ask('redo', {}), { class: 'redo', title: 'redo (Ctrl+Shift+Z)' });
    this.shares = this.layout.shares ?? {};
    this.talk = button('talk', () => this.setLayout({ talk: !this.layout.talk }), {
      class: 'talk-layout',
      title: 'two panes in large type; the buttons of the panes choose which',
    });
    const screen = button('full screen', () => this.room.fill(), { class: 'full-screen', title: 'the whole screen, and back (Escape)' });
    const head = h(
      'div',
      { class: 'head' },
      this.title,
      this.sizes,
      this.measure.time,
      this.measure.full,
      this.gone,
      h('span', { class: 'space' }),
      this.choice,
      h('span', { class: 'pair' }, this.measure.element, this.undo, this.redo),
      h('span', { class: 'pair' }, this.talk, screen),
    );
    this.root = h(
      'div',
      { class: 'wb wbp', keydown: (event: KeyboardEvent) => this.keys(event) },
      head,
      this.deck.element,
      h('div', { class: 'foot' }, this.cells.element, this.status),
      this.refusal.element,
      this.menu.element,
    );
    this.room = new Room(this.root, (height) => this.setLayout({ height }));
    this.root.append(this.room.grip);
    this.refusal.watch(this.root);
    state.onSay((text) => {
      this.status.textContent = this.status.title = text;
    });
    state.spread = () => this.deck.spread();
    state.onMenu((of, x, y, from) => void this.menu.open(of, x, y, from));
    this.root.addEventListener('pointerdown', (event) => {
      if (!this.menu.element.contains(event.target as Node)) this.menu.close();
    });
    state.onBusy((now) => this.root.classList.toggle('busy', now));
    state.onCompare(() => this.drawAll());
    state.onLight(() => this.light());
    WATCHED.forEach((name) => model.on(`change:${name}`, this.changed));
    model.on('comm_live_update', this.connected); // of ipywidgets' models; nobody else says it
    this.root.addEventListener('workbench:kernel', this.connected); // of JupyterLab's extension
    this.remember();
    this.watcher = new ResizeObserver(
      resized(() => {
        this.room.fit(this.layout.height);
        this.drawAll();
      }),
    );
    this.watcher.observe(this.root);
  }

  private get layout(): Partial<Arrangement> {
    return this.model.get('arrangement') ?? {};
  }

  private setLayout(change: Partial<Arrangement>): void {
    this.state.arrange(change);
  }

  /** Names of the panes that are shown: of a talk, two. */
  private get names(): string[] {
    const names = this.model.get('panes').filter((name) => name in PANES);
    return this.layout.talk ? pair(names, this.layout.pair ?? []) : names;
  }

  private pane(name: string): Pane {
    const known = this.made.get(name) ?? PANES[name][1](this.state);
    this.made.set(name, known);
    return known;
  }

  /** The panes that are shown, made when they are first. */
  private get shown(): Pane[] {
    return this.names.map((name) => this.pane(name));
  }

  private enlarge(name: string): void {
    this.deck.enlarged = this.deck.enlarged === name ? '' : name;
    this.place();
    this.state.say(this.deck.enlarged ? `${PANES[name][0]} alone: Escape shows the others again` : 'all panes are shown again');
  }

  private spread(shares: Record<string, number>, done: boolean): void {
    this.shares = shares;
    if (done) this.setLayout({ shares });
  }

  private resized(name: string): void {
    if (SIZED.includes(name) && this.names.includes(name)) this.pane(name).draw();
    this.light();
  }

  private choose(): void {
    const now = this.names;
    this.choice.replaceChildren(
      ...Object.entries(PANES).map(([name, [text]]) =>
        button(text, () => this.toggle(name), {
          class: 'pane-toggle',
          'data-pane': name,
          'aria-pressed': String(now.includes(name)),
          title: now.includes(name) ? `hide ${text}` : `show ${text}`,
        }),
      ),
    );
  }

  private toggle(name: string): void {
    const now = this.model.get('panes');
    const shown = this.names.includes(name);
    if (this.layout.talk && !shown) {
      this.model.set('arrangement', { ...this.layout, pair: [name, ...this.names].slice(0, 2) });
      if (now.includes(name)) return this.toggled(name, true);
    }
    this.model.set(
      'panes',
      now.includes(name) ? now.filter((n) => n !== name) : Object.keys(PANES).filter((n) => n === name || now.includes(n)),
    );
    this.toggled(name, !now.includes(name));
  }

  private toggled(name: string, shown: boolean): void {
    this.model.save_changes();
    this.deck.enlarged = '';
    this.place();
    if (shown) this.deck.reveal(name);
    this.choice.querySelector<HTMLElement>(`[data-pane="${name}"]`)?.focus({ preventScroll: true });
    this.state.say(`${PANES[name][0]} ${shown ? 'shown' : 'hidden'}`);
  }

  /** Which panes stand there, each drawn. */
  private place(): void {
    this.choose();
    const focused = held(this.root);
    const { names } = this;
    const stand = plan(names, this.root.clientWidth / (this.layout.talk ? TALK : 1));
    this.root.classList.toggle('fitted', stand.columns.length > 0);
    this.root.classList.toggle('talk', this.layout.talk === true);
    this.talk.setAttribute('aria-pressed', String(this.layout.talk === true));
    this.deck.place(
      stand,
      names.map((name) => ({ name, title: PANES[name][0], element: this.pane(name).element })),
    );
    this.measure.fit();
    for (const pane of this.shown) pane.draw();
    focused();
    this.light();
  }

  drawAll(): void {
    const { state } = this;
    this.named();
    this.undo.disabled = !state.past.undo;
    this.redo.disabled = !state.past.redo;
    const count = state.past.steps.length;
    const remark = state.past.remarks[count - 1];
    this.sizes.replaceChildren(
      count ? `${numberOf(count, 'step')}, legal${remark ? ', the last: ' : ''}` : 'no steps yet: it runs in the order of its text',
      remark ? h('span', { class: warns(remark) ? 'warns' : undefined }, remark) : '',
    );
    this.sizes.title = this.title.title = this.sizes.textContent ?? '';
    this.root.classList.toggle('previewing', state.compared !== null);
    this.refusal.draw();
    this.measure.draw();
    this.place();
  }

  /** Of a model without an open operator the head says what the model is, and does nothing to an operator. */
  private named(): void {
    const { title: network, opened } = this.model.get('network');
    const alone = network !== undefined && !opened && this.model.get('panes').every((name) => name === 'model');
    this.root.classList.toggle('with-model', network !== undefined);
    this.root.classList.toggle('only-model', alone);
    this.title.textContent = alone ? network : this.model.get('title');
  }

  private light(): void {
    // Which state is drawn, for whoever watches from outside.
    this.root.dataset.place = String(this.state.past.place);
    this.root.dataset.offers = String(this.state.offers.steps?.length ?? 0);
    for (const pane of this.shown) pane.light?.();
    this.cells.light();
    if (this.state.gone) this.silence();
  }

  private remember(): void {
    this.before = Object.fromEntries(WATCHED.map((name) => [name, this.model.get(name)]));
  }

  // A step changes several traits with one message: one redraw for all of them.
  private readonly changed = (): void => {
    if (this.waiting) return;
    this.waiting = true;
    queueMicrotask(() => {
      this.waiting = false;
      const old = this.before;
      const differs = (name: keyof Traits) => this.model.get(name) !== old[name];
      const refused = !same(this.model.get('refusal'), old.refusal);
      const [drawn, panes, offered, viewed, written] = [
        DRAWN.some(differs),
        !same(this.model.get('panes'), old.panes),
        differs('offers'),
        differs('views'),
        differs('code'),
      ];
      const [tried, exported, timed] = [differs('study'), differs('export'), differs('measured')];
      const modelled = differs('network');
      const laid = !same(this.model.get('arrangement'), old.arrangement);
      if (laid) this.lay();
      this.take(old.machine as Machine);
      this.remember();
      if (drawn) this.renew();
      else if (panes || laid) this.place();
      else {
        this.parts(refused, offered, viewed, written, tried, exported);
        if (timed) this.timed();
        if (modelled) this.modelled();
        this.light();
      }
    });
  };

  private lay(): void {
    this.shares = this.layout.shares ?? {};
    this.room.fit(this.layout.height);
  }

  private readonly connected = (): void => {
    void this.state.seekKernel(() => {
      this.gone.hidden = !this.state.gone;
      this.root.classList.toggle('dead', this.state.gone);
      this.menu.close();
      this.silence();
    });
  };

  /** What only a kernel can answer cannot be pressed without one; what is drawn can still be looked at. */
  private silence(): void {
    const { gone } = this.state;
    this.root.querySelectorAll<HTMLElement>(ASKING).forEach((element) => (element.inert = gone));
  }

  /** A while after the last step: whoever keeps this output may ask for the picture of what is shown now. */
  private settle(): void {
    window.clearTimeout(this.settling);
    this.settling = window.setTimeout(() => {
      const still = () => this.state.answer('still', {}, true);
      this.root.dispatchEvent(new CustomEvent('workbench:shown', { bubbles: true, detail: { still } }));
    }, SETTLED);
  }
  private settling = 0;

  private take(before: Machine): void {
    const now = this.model.get('machine');
    if (!same(now, this.state.machine)) this.state.setMachine(now, false);
    if (now.vector_bits !== before.vector_bits) this.state.lazy.forget('assembly');
  }

  private renew(): void {
    this.menu.close();
    this.state.renew();
    this.state.lazy.forget();
    this.drawAll();
    this.settle();
  }

  /** The code comes after the picture, with a message of its own. */
  private parts(refused: boolean, offered: boolean, viewed: boolean, written: boolean, tried: boolean, exported: boolean): void {
    const draw = (...names: string[]) =>
      names.forEach((name) => {
        if (this.deck.element.contains(this.made.get(name)?.element ?? null)) this.made.get(name)!.draw();
      });
    if (refused) {
      this.refusal.draw();
      draw('domain');
    }
    if (offered) draw('steps');
    if (written && this.state.compared) this.renew();
    else if (written || viewed) draw('code');
    if (viewed) draw('dataflow', 'footprint', 'roofline', 'warps');
    if (viewed || written || tried) draw('trials');
    if (exported) draw('export');
  }

  /** Times come one after another, and change nothing else. */
  private timed(): void {
    this.measure.draw();
    this.measure.fit();
    const focused = held(this.root);
    for (const name of ['history', 'roofline']) {
      const pane = this.made.get(name);
      if (pane && this.deck.element.contains(pane.element)) pane.draw();
    }
    focused();
  }

  private modelled(): void {
    this.named();
    const pane = this.made.get('model');
    if (pane && this.deck.element.contains(pane.element)) pane.draw();
  }

  private keys(event: KeyboardEvent): void {
    const control = event.ctrlKey || event.metaKey;
    const { gone } = this.state;
    const typing = (event.target as HTMLElement).closest?.('.cm-content[contenteditable=true], input:not([type=range]), select, textarea');
    if (control && event.key.toLowerCase() === 'z' && !typing && !gone) {
      void this.state.ask(event.shiftKey ? 'redo' : 'undo', {});
      event.preventDefault();
    }
    if (event.key === 'm' && !typing && !control && !event.altKey && !gone) void this.measure.go();
    if (event.key === 'Escape' && this.state.compared) this.state.closePreview();
    else if (event.key === 'Escape' && this.state.refusal.step) void this.state.ask('dismiss', {});
    else if (event.key === 'Escape' && this.deck.enlarged) this.enlarge(this.deck.enlarged);
    event.stopPropagation(); // or the notebook's shortcuts fire
  }

  close(): void {
    for (const pane of this.made.values()) pane.close?.();
    WATCHED.forEach((name) => this.model.off(`change:${name}`, this.changed));
    this.model.off('comm_live_update', this.connected);
    this.watcher.disconnect();
    window.clearTimeout(this.settling);
    this.deck.close();
    this.refusal.close();
    this.room.close();
  }
}

/** A redraw makes elements anew: afterwards the keyboard is where it was, or at least in the same pane. */
function held(root: HTMLElement): () => void {
  const now = document.activeElement as HTMLElement | null;
  const pane = now && root.contains(now) ? now.closest<HTMLElement>('.pane, .head') : null;
  if (!now || !pane) return () => undefined;
  const alike = `${now.tagName}${[...now.classList]
    .filter((name) => !['active', 'has-lit', 'replaying', 'zoomed', 'lit'].includes(name))
    .map((name) => `.${CSS.escape(name)}`)
    .join('')}`;
  const nth = [...pane.querySelectorAll(alike)].indexOf(now);
  return () => {
    if (now.isConnected && document.activeElement === now) return;
    const found = [...pane.querySelectorAll<HTMLElement>(alike)];
    (found[nth] ?? found[0] ?? pane.querySelector<HTMLElement>('[tabindex="0"], button, input'))?.focus({ preventScroll: true });
  };
}

/** Called when the width really changed, and at the first layout: then the panes know their width. */
function resized(action: () => void): ResizeObserverCallback {
  let width = -1;
  return ([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (width < 0 ? now > 0 : Math.abs(now - width) > 8) action();
    width = now;
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const panel = new Panel(model);
  el.replaceChildren(panel.root);
  panel.drawAll();
  return () => panel.close();
}

export default { render };
