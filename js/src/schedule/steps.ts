// What may come next, by kind; what may not is grey and says why.

import { button, h } from '../tools/dom';
import { explained } from '../tools/glossary';
import { moved } from '../state/levels';
import { bytes } from '../tools/quantities';
import { WORTH, because, best, gained } from './menu';
import { at } from './measuring';
import type { Choice, Cost, MenuData, Offer, Remark } from '../state/messages';
import type { State } from '../state/state';

const BEGIN = 0.04; // seconds of looking at a time
const MOST = 4;
const MODELLED = 'estimated from lanes, threads and the bytes that go through each cache; measure says what it is';
// What most schedules are made of, before all others by name.
const COMMON = ['tile', 'split', 'interchange', 'reorder', 'vectorize', 'parallelize', 'unroll', 'merge', 'compute_at', 'stage', 'bind'];

/** Kinds of steps in the order they are listed. */
export function listed(kinds: Iterable<string>): string[] {
  const place = (kind: string) => (COMMON.includes(kind) ? COMMON.indexOf(kind) : COMMON.length);
  return [...new Set(kinds)].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
}

/** What stands beside the head of the best steps: only one thing at a time is said to be looked for. */
export function standing(asked: boolean, looked: Looked | null, found: number, measured = false): string {
  const next = measured ? 'look below' : 'measure, or look below';
  if (looked?.unmodelled) return `${looked.unmodelled}: ${next}`;
  if (found) return 'modelled';
  if (!asked) return ''; // the list below says that it asks
  if (!looked) return 'looking for what gains most …';
  const of = looked.complete ? '' : ' of those looked at in time';
  return `by the model no step${of} gains ${100 * WORTH} %: ${next}`;
}

/** What the model has looked at: all steps or some, or why none. */
export type Looked = Pick<MenuData, 'complete' | 'unmodelled'>;

/** How many steps of a kind there are: `6 legal, 1 refused, 1 not known`; of a list that is not all looked at, so far. */
export function tally(offers: Pick<Offer, 'legal' | 'known'>[], open: boolean): string {
  const legal = offers.filter((offer) => offer.legal).length;
  const unknown = offers.filter((offer) => !offer.known).length;
  const refused = offers.length - legal - unknown;
  const others = [refused ? `${refused} refused` : '', unknown ? `${unknown} not known` : ''].filter(Boolean);
  return [others.length ? `${legal} legal` : `${legal}`, ...others].join(', ') + (open ? ' so far' : '');
}

/** `▼ 83.2 KiB through L1`: what goes through the first cache after a step, where that is more or less than now. */
export function traffic(after: number, now: number): string {
  const ratio = after / now;
  return Number.isFinite(ratio) && Math.abs(ratio - 1) >= 0.01 ? `${ratio < 1 ? '▼' : '▲'} ${bytes(after)} through L1` : '';
}

const NAMED = 3;

/** Which loops no block divides: of many the first, and how many more. */
export function shortLoops(names: string[]): string {
  if (!names.length) return '';
  const more = names.length > NAMED + 1 ? names.length - NAMED : 0;
  const named = names.slice(0, more ? NAMED : undefined).join(', ');
  return `no blocks of ${named}${more ? ` and ${more} others` : ''}: too few iterations`;
}

export class StepsPane {
  readonly element = h('section', { class: 'pane steps', 'aria-label': 'Next steps' });
  private readonly filter: HTMLInputElement;
  private readonly list = h('div', { class: 'offers', tabindex: 0, role: 'region', 'aria-label': 'steps' });
  private readonly opened = new Set<string>(['tile', 'interchange', 'vectorize', 'parallelize']);

  private readonly start = h('div', { class: 'start', role: 'group', 'aria-label': 'what one may begin with' });
  private started: string | null = null; // the schedule that beginnings were asked for
  private choices: Choice[] = [];
  private costs = new Map<string, Cost>(); // text of a step → traffic after it
  private readonly remarks = new Map<string, Remark>(); // text of a step → what else is worth knowing of it
  private now: Cost = [[], []];
  private shown = '';
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
    if (this.shown !== this.schedule) {
      this.costs.clear();
      this.remarks.clear();
      this.started = null;
      this.looked = null;
      this.choices = [];
    }
    this.shown = this.schedule;
    if (!this.state.offers.steps) void this.state.lazy.offer();
    this.fill();
    void this.begin();
  }

  /** Which schedule is shown: another operator begins at the same place of another history. */
  private get schedule(): string {
    const { place, script } = this.state.past;
    return `${place} ${script}`;
  }

  /** What gains most here, asked for once everything else is known. */
  private async begin(): Promise<void> {
    const { schedule } = this;
    if (this.started === schedule || !this.state.offers.steps) {
      this.showStart();
      return;
    }
    this.started = schedule;
    this.choices = [];
    this.looked = null;
    this.showStart();
    let found: MenuData | undefined;
    do {
      found = await this.state.answer('menu', { part: BEGIN }, true);
      if (!found || schedule !== this.schedule || !this.element.isConnected) {
        this.started = null;
        return;
      }
    } while (found.more);
    this.choices = best(found.steps, MOST);
    this.looked = found;
    this.showStart();
  }
  private looked: Looked | null = null;

  private showStart(): void {
    const naive = !this.state.past.steps.length;
    const rows = this.choices.map((choice) =>
      h(
        'div',
        { class: 'begin' },
        button(choice.text, () => void this.state.apply(choice.step, choice.text), { class: 'begin-with', title: 'apply' }),
        h('span', { class: 'gain' }, gained(choice.gain)),
        h('small', { class: choice.warns ? 'warns' : undefined, title: explained(because(choice)) || undefined }, because(choice)),
      ),
    );
    const head = h('b', {}, naive ? 'start here' : 'most to gain');
    const words = standing(
      this.state.offers.steps !== undefined,
      this.looked,
      rows.length,
      at(this.state.measured, this.state.past.place) !== null,
    );
    // One word stands beside the heading; a sentence begins a line of its own.
    const said = h(rows.length ? 'span' : 'div', { class: 'soft', title: MODELLED }, rows.length ? ` ${words}` : words);
    this.start.replaceChildren(head, said, ...rows);
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
    const short = words.length ? '' : shortLoops(this.state.offers.short ?? []);
    const more = complete
      ? null
      : button('look at all kinds of steps', () => void this.state.lazy.offer({ seconds: 4 }), { class: 'more' });
    const blocks = kinds.filter((kind) => kind === 'tile' || kind === 'split').length; // they are listed first
    groups.splice(
      blocks,
      0,
      ...(short ? [h('p', { class: 'soft note short-loops', title: this.state.offers.short?.join(', ') }, short)] : []),
    );
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
      const { shown } = this;
      const found = await this.state.answer('costs', { steps: wanted.map((offer) => offer.step) }, true);
      if (!found) break;
      if (shown !== this.shown) continue; // a step was taken meanwhile: its own offers are asked about
      this.now = found.now;
      found.after.forEach((cost, i) => {
        this.costs.set(wanted[i].text, cost);
        this.remarks.set(wanted[i].text, found.remarks[i]);
      });
      this.price();
    }
    this.asking = false;
  }

  /** The bytes that go through the first cache, against now; of a schedule on a GPU no cache of this machine says anything. */
  private price(): void {
    const through = ([nodes, touches]: Cost) => (nodes.length ? moved(nodes, touches, this.state.machine.cache_bytes[0]).bytes : NaN);
    const now = through(this.now);
    const { onGpu } = this.state;
    this.list.querySelectorAll<HTMLElement>('.cost').forEach((e) => {
      const cost = this.costs.get(e.dataset.of!);
      const after = cost ? through(cost) : NaN;
      const ratio = after / now;
      e.textContent = onGpu ? '' : traffic(after, now);
      e.title = Number.isFinite(after) && !onGpu ? `${bytes(after)} through L1, now ${bytes(now)} (estimated by boxes)` : '';
      e.classList.toggle('less', ratio < 1);
    });
    this.list.querySelectorAll<HTMLElement>('.remark').forEach((e) => {
      const remark = this.remarks.get(e.dataset.of!);
      e.textContent = remark?.text ?? '';
      e.classList.toggle('warns', remark?.warns ?? false);
    });
  }

  private group(kind: string, offers: Offer[], open: boolean): HTMLElement {
    const left = this.state.offers.left ?? [];
    const title = left.includes(kind) ? 'there was no time to look at all of them: the button below looks further' : undefined;
    const count = h('span', { class: 'soft', title }, ` ${tally(offers, left.includes(kind))}`);
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

  /** A step that was not judged in time: no refusal, and it may be asked about again. */
  private unknown(offer: Offer): HTMLElement {
    const again = () => void this.again(offer);
    const asking = this.judging.has(offer.text);
    return h(
      'div',
      { class: 'offer unknown' },
      button(offer.text, again, {
        'data-legal': 'unknown',
        title: `not known to be legal: ${offer.reason}`,
        'aria-label': `${offer.text}: not known to be legal, ask again`,
        disabled: asking,
      }),
      h('small', {}, asking ? 'looking at it again …' : 'not judged in time '),
      asking ? null : button('ask again with more time', again, { class: 'again', title: offer.reason }),
    );
  }
  private readonly judging = new Set<string>();

  private async again(offer: Offer): Promise<void> {
    if (this.judging.has(offer.text)) return;
    this.judging.add(offer.text);
    this.fill();
    const found = await this.state.answer('again', { step: offer.step }, true);
    this.judging.delete(offer.text);
    if (found) this.state.say(`${offer.text}: ${found.legal ? 'legal' : found.known ? `refused, ${found.reason}` : 'still not known'}`);
    this.fill();
  }

  private offer(offer: Offer): HTMLElement {
    if (!offer.known) return this.unknown(offer);
    return h(
      'div',
      { class: `offer${offer.legal ? '' : ' illegal'}` },
      button(offer.text, () => void this.state.apply(offer.step, offer.text), {
        'data-legal': String(offer.legal),
        title: offer.legal ? 'apply' : `show why not: ${offer.reason}`,
        'aria-label': offer.legal ? offer.text : `${offer.text}: refused, show why`,
      }),
      offer.legal ? h('span', { class: 'cost', 'data-of': offer.text }) : null,
      button('before → after', () => void this.state.comparing.preview(offer.step, offer.text), {
        class: 'preview',
        'aria-label': `preview ${offer.text}`,
        title: 'what it changes in the code',
      }),
      offer.legal ? h('small', { class: 'remark', 'data-of': offer.text }) : h('small', {}, offer.reason),
    );
  }
}
