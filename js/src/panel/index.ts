// The panel: panes around one state.  anywidget calls `render` for every place in which the widget is shown.

import { CellsPane } from '../domain/cells';
import { Deck } from '../layout/deck';
import { h } from '../tools/dom';
import { plan } from '../layout/layout';
import { LoopMenu } from '../schedule/menu';
import { RefusalBar } from '../schedule/refusal';
import { State, same } from '../state/state';
import type { Model, Wire } from '../state/kernel';
import type { Machine } from '../state/messages';
import { Room } from '../layout/room';
import { Head } from './head';
import { held, keys } from './keyboard';
import { PANES, Panes } from './panes';
import { Watching } from './watching';
import type { Changed } from './watching';

const TALK = 1.35; // how much larger everything is in a talk, as panel.css has it
const SETTLED = 900; // milliseconds without a step
// What does nothing without a kernel.
const ASKING =
  '.pane.steps, .pane.operator, .pane.export, .head .measuring, .head :is(.undo, .redo), .languages, .column-choices, .keeping, .history .pin,' +
  ' .moment, .measure-all, .films .film, .mode:not(:first-child), .numbers, .interchange, [data-map], .more-of, .refusal';

class Panel {
  private readonly state: State;
  private readonly model: Wire;
  private readonly panes: Panes;
  private readonly refusal: RefusalBar;
  private readonly cells: CellsPane;
  private readonly menu: LoopMenu;
  private readonly status = h('div', { class: 'status', role: 'status', 'aria-live': 'polite' });
  private readonly head: Head;
  private readonly deck = new Deck({
    hide: (name) => this.toggled(name, this.panes.toggle(name)),
    enlarge: (name) => this.enlarge(name),
    shares: () => this.shares,
    share: (shares, done) => this.spread(shares, done),
    resized: (name) => this.resized(name),
  });
  private shares: Record<string, number>;
  private readonly room: Room;
  private readonly watcher: ResizeObserver;
  private readonly watching: Watching;
  readonly root: HTMLElement;

  constructor(own: Model) {
    const state = (this.state = new State(own));
    const model = (this.model = state.model);
    this.refusal = new RefusalBar(state);
    this.cells = new CellsPane(state);
    this.menu = new LoopMenu(state);
    this.panes = new Panes(state, this.deck.element);
    this.head = new Head(state, {
      toggle: (name) => this.toggled(name, this.panes.toggle(name)),
      talk: () => this.state.arrange({ talk: !this.state.arrangement.talk }),
      fill: () => this.room.fill(),
    });
    this.shares = this.state.arrangement.shares ?? {};
    this.root = h(
      'div',
      {
        class: 'wb wbp',
        keydown: (event: KeyboardEvent) => keys(event, state, this.head.measure, this.deck, (name) => this.enlarge(name)),
      },
      this.head.element,
      this.deck.element,
      h('div', { class: 'foot' }, this.cells.element, this.status),
      this.refusal.element,
      this.menu.element,
    );
    this.room = new Room(this.root, (height) => this.state.arrange({ height }));
    this.root.append(this.room.grip);
    this.refusal.watch(this.root);
    this.hear(state);
    this.watching = new Watching(model, (changed) => this.changed(changed));
    this.watcher = new ResizeObserver(
      resized(() => {
        this.room.fit(this.state.arrangement.height);
        this.drawAll();
      }),
    );
    this.watcher.observe(this.root);
  }

  /** What the panes, the kernel and the host say. */
  private hear(state: State): void {
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
    this.model.on('comm_live_update', this.connected); // of ipywidgets' models; nobody else says it
    this.root.addEventListener('workbench:kernel', this.connected); // of JupyterLab's extension
  }

  private enlarge(name: string): void {
    this.deck.enlarged = this.deck.enlarged === name ? '' : name;
    this.place();
    this.state.say(this.deck.enlarged ? `${PANES[name][0]} alone: Escape shows the others again` : 'all panes are shown again');
  }

  private spread(shares: Record<string, number>, done: boolean): void {
    this.shares = shares;
    if (done) this.state.arrange({ shares });
  }

  private resized(name: string): void {
    this.panes.resized(name);
    this.light();
  }

  private toggled(name: string, shown: boolean): void {
    this.model.save_changes();
    this.deck.enlarged = '';
    this.place();
    if (shown) this.deck.reveal(name);
    this.head.focus(name);
    this.state.say(`${PANES[name][0]} ${shown ? 'shown' : 'hidden'}`);
  }

  /** Which panes stand there, each drawn. */
  private place(): void {
    this.head.choose(this.panes.names, this.state.arrangement.talk === true);
    const focused = held(this.root);
    const { names } = this.panes;
    const stand = plan(names, this.root.clientWidth / (this.state.arrangement.talk ? TALK : 1));
    this.root.classList.toggle('fitted', stand.columns.length > 0);
    this.root.classList.toggle('talk', this.state.arrangement.talk === true);
    this.deck.place(
      stand,
      names.map((name) => ({ name, title: PANES[name][0], element: this.panes.of(name).element })),
    );
    this.head.measure.fit();
    for (const pane of this.panes.shown) pane.draw();
    focused();
    this.light();
  }

  drawAll(): void {
    const { state } = this;
    this.named();
    this.head.draw();
    this.root.classList.toggle('previewing', state.compared !== null);
    this.refusal.draw();
    this.head.measure.draw();
    this.place();
  }

  /** Of a model without an open operator the head says what the model is, and does nothing to an operator. */
  private named(): void {
    const { title: network, opened } = this.model.get('network');
    const alone = network !== undefined && !opened && this.model.get('panes').every((name) => name === 'model');
    this.root.classList.toggle('with-model', network !== undefined);
    this.root.classList.toggle('only-model', alone);
    this.head.title.textContent = alone ? network : this.model.get('title');
  }

  private light(): void {
    // Which state is drawn, for whoever watches from outside.
    this.root.dataset.place = String(this.state.past.place);
    this.root.dataset.offers = String(this.state.offers.steps?.length ?? 0);
    for (const pane of this.panes.shown) pane.light?.();
    this.cells.light();
    if (this.state.gone) this.silence();
  }

  /** One redraw for all that a message changed. */
  private changed(changed: Changed): void {
    if (changed.laid) this.lay();
    this.take(changed.machine);
    if (changed.drawn) this.renew();
    else if (changed.panes || changed.laid) this.place();
    else {
      this.parts(changed);
      if (changed.timed) this.timed();
      if (changed.modelled) this.modelled();
      this.light();
    }
  }

  private lay(): void {
    this.shares = this.state.arrangement.shares ?? {};
    this.room.fit(this.state.arrangement.height);
  }

  private readonly connected = (): void => {
    void this.state.seekKernel(() => {
      this.head.gone.hidden = !this.state.gone;
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
  private parts({ refused, offered, viewed, written, tried, exported }: Changed): void {
    const draw = (...names: string[]) => this.panes.redraw(...names);
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
    this.head.measure.draw();
    this.head.measure.fit();
    const focused = held(this.root);
    this.panes.redraw('history', 'roofline');
    focused();
  }

  private modelled(): void {
    this.named();
    this.panes.redraw('model');
  }

  close(): void {
    this.panes.close();
    this.watching.close();
    this.model.off('comm_live_update', this.connected);
    this.watcher.disconnect();
    window.clearTimeout(this.settling);
    this.deck.close();
    this.refusal.close();
    this.room.close();
  }
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
