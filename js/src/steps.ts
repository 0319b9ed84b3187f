// What may come next, by kind; what may not is grey and says why.

import { button, h } from './dom';
import { bytes, moved } from './levels';
import { because, best, gained } from './menu';
import type { Choice, Cost, MenuData, Offer } from './messages';
import type { State } from './state';

const BEGIN = 0.04; // seconds of looking at a time
const MOST = 4;
// What most schedules are made of, before all others by name.
const COMMON = ['tile', 'split', 'interchange', 'reorder', 'vectorize', 'parallelize', 'unroll', 'merge', 'compute_at', 'stage', 'bind'];

/** Kinds of steps in the order they are listed. */
export function listed(kinds: Iterable<string>): string[] {
  const place = (kind: string) => (COMMON.includes(kind) ? COMMON.indexOf(kind) : COMMON.length);
  return [...new Set(kinds)].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

export class StepsPane {
  readonly element = h('section', { class: 'pane steps', 'aria-label': 'Next steps' });
  private readonly filter: HTMLInputElement;
  private readonly list = h('div', { class: 'offers', tabindex: 0, role: 'region', 'aria-label': 'steps' });
  private readonly opened = new Set<string>(['tile', 'interchange', 'vectorize', 'parallelize']);

  private readonly start = h('div', { class: 'start', role: 'group', 'aria-label': 'what one may begin with' });
  private started: number | null = null; // the place of the history that beginnings were asked for
  private choices: Choice[] = [];
  private costs = new Map<string, Cost>(); // text of a step → traffic after it
  private now: Cost = [[], []];
  private place = -1;
  private asking = false;

  constructor(private readonly state: State) {
    state.onMachine(() => this.price());
    this.filter = h('input', {
      type: 'search',
      placeholder: 'filter: vectorize, k …',
      'aria-label': 'filter the steps',
      input: () => this.fill(),
    });
    this.filter.addEventListener('keydown', (event) => event.stopPropagation());
    this.element.append(this.start, this.filter, this.list);
  }

  draw(): void {
    if (this.place !== this.state.past.place) {
      this.costs.clear();
      this.started = null;
      this.choices = [];
    }
    this.place = this.state.past.place;
    if (!this.state.offers.steps) void this.state.offer();
    this.fill();
    void this.begin();
  }

  /** What gains most here, asked for once everything else is known. */
  private async begin(): Promise<void> {
    const { place } = this.state.past;
    if (this.started === place || !this.state.offers.steps) {
      this.showStart();
      return;
    }
    this.started = place;
    this.choices = [];
    this.looked = false;
    this.showStart();
    let found: MenuData | undefined;
    do {
      found = await this.state.answer('menu', { part: BEGIN }, true);
      if (!found || place !== this.state.past.place || !this.element.isConnected) {
        this.started = null;
        return;
      }
    } while (found.more);
    this.choices = best(found.steps, MOST);
    this.looked = true;
    this.showStart();
  }
  private looked = false;

  private showStart(): void {
    const naive = !this.state.past.steps.length;
    const rows = this.choices.map((choice) =>
      h(
        'div',
        { class: 'begin' },
        button(choice.text, () => void this.state.apply(choice.step, choice.text), { class: 'begin-with', title: 'apply' }),
        h('span', { class: 'gain' }, gained(choice.gain)),
        h('small', {}, because(choice)),
      ),
    );
    const head = h('b', {}, naive ? 'start here' : 'most to gain');
    const none = this.looked ? 'no step gains by the model: measure, or look below' : 'looking for what gains most …';
    this.start.replaceChildren(head, h('span', { class: 'soft' }, ` ${rows.length ? 'modelled' : none}`), ...rows);
  }

  private fill(): void {
    const { steps, complete } = this.state.offers;
    if (!steps) return this.list.replaceChildren(h('p', { class: 'soft' }, 'asking which steps are legal …'));
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = steps.filter((offer) => words.every((word) => offer.text.toLowerCase().includes(word)));
    const kinds = listed(wanted.map((offer) => offer.kind));
    const groups = kinds.map((kind) =>
      this.group(
        kind,
        wanted.filter((offer) => offer.kind === kind),
        words.length > 0,
      ),
    );
    const more = complete ? null : button('look at all kinds of steps', () => void this.state.offer({ seconds: 4 }), { class: 'more' });
    this.list.replaceChildren(...groups, more ?? '');
    this.price();
    void this.ask();
  }

  /** What the steps that are seen would cost, asked a few at a time. */
  private async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    while (this.element.isConnected) {
      const seen = [...this.list.querySelectorAll<HTMLElement>('details[open] .cost')].map((e) => e.dataset.of!);
      const wanted = (this.state.offers.steps ?? [])
        .filter((offer) => seen.includes(offer.text) && !this.costs.has(offer.text))
        .slice(0, 20);
      if (!wanted.length) break;
      const { place } = this;
      const found = await this.state.answer('costs', { steps: wanted.map((offer) => offer.step) }, true);
      if (!found) break;
      if (place !== this.place) continue; // a step was taken meanwhile: its own offers are asked about
      this.now = found.now;
      found.after.forEach((cost, i) => this.costs.set(wanted[i].text, cost));
      this.price();
    }
    this.asking = false;
  }

  /** The bytes that go through the first cache, against now. */
  private price(): void {
    const through = ([nodes, touches]: Cost) => (nodes.length ? moved(nodes, touches, this.state.machine.cache_bytes[0]).bytes : NaN);
    const now = through(this.now);
    this.list.querySelectorAll<HTMLElement>('.cost').forEach((e) => {
      const cost = this.costs.get(e.dataset.of!);
      const after = cost ? through(cost) : NaN;
      const ratio = after / now;
      e.textContent = Number.isFinite(ratio) && Math.abs(ratio - 1) >= 0.01 ? `${ratio < 1 ? '▼' : '▲'} ${bytes(after)}` : '';
      e.title = Number.isFinite(after) ? `${bytes(after)} through L1, now ${bytes(now)} (estimated by boxes)` : '';
      e.classList.toggle('less', ratio < 1);
    });
  }

  private group(kind: string, offers: Offer[], open: boolean): HTMLElement {
    const legal = offers.filter((offer) => offer.legal).length;
    const count = h('span', { class: 'soft' }, ` ${legal}${offers.length > legal ? ` legal, ${offers.length - legal} refused` : ''}`);
    return h(
      'details',
      {
        open: open || this.opened.has(kind),
        toggle: (event: Event) => {
          if (!(event.target as HTMLDetailsElement).open) return void this.opened.delete(kind);
          this.opened.add(kind);
          void this.ask();
        },
      },
      h('summary', {}, kind, count),
      ...offers.map((offer) => this.offer(offer)),
    );
  }

  private offer(offer: Offer): HTMLElement {
    return h(
      'div',
      { class: `offer${offer.legal ? '' : ' illegal'}` },
      button(offer.text, () => void this.state.apply(offer.step, offer.text), {
        'data-legal': String(offer.legal),
        title: offer.legal ? 'apply' : `show why not: ${offer.reason}`,
        'aria-label': offer.legal ? offer.text : `${offer.text}: refused, show why`,
      }),
      offer.legal ? h('span', { class: 'cost', 'data-of': offer.text }) : null,
      button('before → after', () => void this.state.preview(offer.step, offer.text), {
        class: 'preview',
        'aria-label': `preview ${offer.text}`,
        title: 'what it changes in the code',
      }),
      offer.legal ? null : h('small', {}, offer.reason),
    );
  }
}
