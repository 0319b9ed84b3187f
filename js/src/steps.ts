// What may come next, by kind; what may not is grey and says why.

import { button, h } from './dom';
import type { State } from './state';
import type { Offer } from './types';

export class StepsPane {
  readonly element = h('section', { class: 'pane steps', 'aria-label': 'Next steps' });
  private readonly filter: HTMLInputElement;
  private readonly list = h('div', { class: 'offers', tabindex: 0, role: 'region', 'aria-label': 'steps' });
  private readonly opened = new Set<string>(['tile', 'interchange', 'vectorize', 'parallelize']);

  constructor(private readonly state: State) {
    this.filter = h('input', { type: 'search', placeholder: 'filter: vectorize, k …', 'aria-label': 'filter the steps', input: () => this.fill() });
    this.filter.addEventListener('keydown', (event) => event.stopPropagation());
    this.element.append(h('h3', {}, 'Next steps'), this.filter, this.list);
  }

  draw(): void {
    if (!this.state.offers.steps) void this.state.ask('offer');
    this.fill();
  }

  private fill(): void {
    const { steps, complete } = this.state.offers;
    if (!steps) return this.list.replaceChildren(h('p', { class: 'soft' }, 'asking which steps are legal …'));
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = steps.filter((offer) => words.every((word) => offer.text.toLowerCase().includes(word)));
    const kinds = [...new Set(wanted.map((offer) => offer.kind))].sort();
    const groups = kinds.map((kind) => this.group(kind, wanted.filter((offer) => offer.kind === kind), words.length > 0));
    const more = complete ? null : button('look at all kinds of steps', () => void this.state.ask('offer', { seconds: 4 }), { class: 'more' });
    this.list.replaceChildren(...groups, more ?? '');
  }

  private group(kind: string, offers: Offer[], open: boolean): HTMLElement {
    const legal = offers.filter((offer) => offer.legal).length;
    const count = h('span', { class: 'soft' }, ` ${legal}${offers.length > legal ? ` legal, ${offers.length - legal} refused` : ''}`);
    return h('details', {
      open: open || this.opened.has(kind),
      toggle: (event: Event) => ((event.target as HTMLDetailsElement).open ? this.opened.add(kind) : this.opened.delete(kind)),
    }, h('summary', {}, kind, count), ...offers.map((offer) => this.offer(offer)));
  }

  private offer(offer: Offer): HTMLElement {
    return h('div', { class: `offer${offer.legal ? '' : ' illegal'}` },
      button(offer.text, () => void this.state.apply(offer.step, offer.text), {
        'data-legal': String(offer.legal), title: offer.legal ? 'apply' : `show why not: ${offer.reason}`,
        'aria-label': offer.legal ? offer.text : `${offer.text}: refused, show why`,
      }),
      button('before → after', () => void this.state.preview(offer.step, offer.text), { class: 'preview', 'aria-label': `preview ${offer.text}`, title: 'what it changes in the code' }),
      offer.legal ? null : h('small', {}, offer.reason));
  }
}
