// What flows from statement to statement, with its bytes: a statement leads into its nest, in the other panes.

import { button, h } from '../tools/dom';
import { Figure } from './figure';
import type { State } from '../state/state';
import type { ModelPicture, Place } from '../state/messages';

const HINT = 'point at a statement, or walk with arrows; a click shows its nest in the picture; Ctrl and the wheel zoom';

export class FlowPane {
  readonly element = h('section', { class: 'pane flow', 'aria-label': 'Dataflow' });
  private readonly figure: Figure;
  private readonly detail = h('p', { class: 'detail', role: 'status', 'aria-live': 'polite' });
  private drawn = false;

  constructor(private readonly state: State) {
    this.figure = new Figure('what flows from statement to statement', {
      say: (place) => this.say(place),
      enter: (place) => this.enter(place),
      fold: () => undefined,
    });
  }

  draw(): void {
    const found = this.state.lazy.view('dataflow');
    if (!found || 'reason' in found) {
      this.drawn = false;
      const said = found ? h('p', { class: 'note' }, found.reason) : h('p', { class: 'soft' }, 'counting …');
      return this.element.replaceChildren(h('h3', {}, 'Dataflow'), said);
    }
    this.picture(found);
  }

  private picture(found: ModelPicture): void {
    const box = h('div', { class: 'drawing-box' }, this.figure.element);
    const words = h('details', { class: 'words' }, h('summary', {}, 'in words'), h('pre', { tabindex: 0 }, found.words));
    this.element.replaceChildren(this.head(), box, this.detail, words);
    this.figure.show(found, Math.max(260, Math.floor(box.clientWidth) || 800), this.drawn);
    this.drawn = true;
    this.detail.textContent = HINT;
  }

  private head(): HTMLElement {
    return h(
      'h3',
      {},
      'Dataflow: bytes of the distinct cells that each statement touches',
      h('span', { class: 'space' }),
      button('−', () => this.figure.zoom(0.8), { 'aria-label': 'zoom out' }),
      button('+', () => this.figure.zoom(1.25), { 'aria-label': 'zoom in' }),
      button('fit', () => this.figure.fit(), { title: 'all of it (0)' }),
    );
  }

  private enter(place: Place): void {
    if (this.state.selection.statement !== place.opens) this.state.select({ statement: place.opens });
    this.state.showNest(place.opens);
  }

  private say(place: Place | null): void {
    this.state.hover(place ? { statement: place.opens } : null);
    if (!place) return void (this.detail.textContent = HINT);
    this.detail.replaceChildren(h('b', {}, place.words), ` ${place.details.join(' · ')}`);
  }
}
