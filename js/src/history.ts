// The history as Python, and every way that was taken.

import { button, h } from './dom';
import { copyText, insertCell } from './scripts';
import type { State } from './state';

export class HistoryPane {
  readonly element = h('section', { class: 'pane history', 'aria-label': 'History' });

  constructor(private readonly state: State) {}

  draw(): void {
    const { past } = this.state;
    const script = h('pre', { class: 'script', tabindex: 0 }, this.lines());
    const copy = button('copy', () => void copyText(this.state, this.element, past.script), {
      class: 'copy',
      title: 'copy the whole script: operator, sizes and steps',
    });
    const insert = button('insert as cell', () => insertCell(this.state, this.element, past.script), {
      class: 'insert',
      title: 'a new cell of the notebook with the whole script',
    });
    const pinned = this.state.pinned?.place === past.place;
    const pin = button(pinned ? 'unpin' : 'pin', () => void this.state.pin(), {
      class: 'pin',
      'aria-pressed': String(pinned),
      title: 'compare every later schedule with this one',
    });
    this.element.replaceChildren(
      h('h3', {}, 'Python', h('span', { class: 'space' }), pin, insert, copy),
      script,
      past.moments.length > 1 ? this.ways() : '',
    );
  }

  private lines(): string {
    const { steps } = this.state.past;
    if (!steps.length) return 'schedule = naive';
    return ['schedule = (', '    naive', ...steps.map((step) => `    | wb.${step}`), ')'].join('\n');
  }

  private ways(): HTMLElement {
    const { moments, place } = this.state.past;
    const rows = this.order().map((at) => {
      const moment = moments[at];
      return h(
        'li',
        { style: `padding-left:${moment.depth * 10}px` },
        button(`${at === this.state.pinned?.place ? '⚑ ' : ''}${moment.text}`, () => void this.state.ask('go', { place: at }), {
          class: 'moment',
          'aria-current': at === place ? 'step' : undefined,
        }),
      );
    });
    return h('details', { open: true }, h('summary', {}, `every way taken (${moments.length})`), h('ol', {}, ...rows));
  }

  /** Depth first, so that a branch stands below where it left. */
  private order(): number[] {
    const { moments } = this.state.past;
    const below = (parent: number | null): number[] => moments.flatMap((m, i) => (m.parent === parent ? [i, ...below(i)] : []));
    return below(null);
  }
}
