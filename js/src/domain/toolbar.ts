// The row above the pictures: what dragging does, the legality maps of steps, and which arrows are drawn.

import { toggles } from '../plot/arrows';
import { legend } from '../plot/legend';
import { button, h } from '../tools/dom';
import { MapPane } from './map';
import type { MapKind } from './map';
import type { Plot } from '../plot/plot';
import type { State } from '../state/state';

const LEAVING = 700; // milliseconds to get from a button to its map
const MODES = {
  select: { name: 'select', hint: 'click a point to light what belongs to it' },
  tile: { name: 'tile', hint: 'drag over as many points as a tile should have' },
  skew: { name: 'skew', hint: 'drag along one axis: each row moves so much further than the one before' },
};

export class Toolbar {
  readonly map: MapPane;
  private waiting = 0; // until a map opens or closes, so that passing by does neither

  constructor(
    private readonly state: State,
    private readonly pane: HTMLElement,
    private readonly pointed: () => Plot | undefined,
    private readonly redraw: () => void,
  ) {
    this.map = new MapPane(state);
    this.map.element.addEventListener('mouseenter', () => window.clearTimeout(this.waiting));
    this.map.element.addEventListener('mouseleave', () => this.leaveMap());
    this.map.element.addEventListener('focusout', (event) => {
      if (!pane.contains(event.relatedTarget as Node)) this.leaveMap();
    });
  }

  element(): HTMLElement {
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
      h('span', { class: 'group kinds' }, ...toggles(this.state, () => this.redraw())),
      legend(this.state.data) ?? '',
    );
  }

  private mode(mode: 'select' | 'tile' | 'skew'): void {
    this.map.close();
    this.state.mode = mode;
    this.pane.dataset.mode = mode;
    this.pane.querySelectorAll('.mode').forEach((b) => b.setAttribute('aria-pressed', String(b.textContent === MODES[mode].name)));
    this.state.say(MODES[mode].hint);
  }

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
    if (!plot?.look.x || !this.pane.isConnected) return;
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
}
