// The history as Python, and every way that was taken.

import { button, download, h } from '../tools/dom';
import { GAINED, at, cameOf, gainOf, shown, words } from './measuring';
import { copyText, insertCell } from '../tools/scripts';
import type { Kept, MeasuredData, Past, Remark } from '../state/messages';
import type { State } from '../state/state';

const DEEPEST = 12; // indents
const NEWEST = 4; // steps that stand above the script, one line each
const NOTHING: Remark = { text: '', warns: false };

/** The newest steps with their numbers and what is worth knowing of them, the last first: seen however little room there is. */
export function newest(steps: string[], remarks: Remark[] = [], most = NEWEST): [number, string, Remark][] {
  return steps
    .map((step, n): [number, string, Remark] => [n + 1, step, remarks[n] ?? NOTHING])
    .slice(-most)
    .reverse();
}

/** What the steps of this way were to gain and gained, by the number of the step; of those with a time. */
export function gains({ moments, place }: Past, { gained }: Partial<MeasuredData>): Map<number, string> {
  const found = new Map<number, string>();
  for (let at: number | null = place; at !== null; at = moments[at].parent) {
    const gain = gained?.[at];
    if (gain) found.set(moments[at].depth, words(gainOf(gain).filter(([, kind]) => !kind)));
  }
  return found;
}

export class HistoryPane {
  readonly element = h('section', { class: 'pane history', 'aria-label': 'History' });

  constructor(private readonly state: State) {}

  draw(): void {
    const { past } = this.state;
    const script = h('pre', { class: 'script', tabindex: 0, 'aria-label': 'the steps as Python' }, this.lines());
    const copy = button('copy', () => void copyText(this.state, this.element, past.script), {
      class: 'copy',
      title: 'copy the whole script: operator, sizes and steps',
    });
    const insert = button('as cell', () => insertCell(this.state, this.element, past.script), {
      class: 'insert',
      title: 'a new cell of the notebook with the whole script',
    });
    const pinned = this.state.pinned?.place === past.place;
    const pin = button(pinned ? 'unpin' : 'pin', () => void this.state.comparing.pin(this.state.data), {
      class: 'pin',
      'aria-pressed': String(pinned),
      title: 'compare every later schedule with this one',
    });
    this.element.replaceChildren(
      this.last(),
      h('div', { class: 'actions', role: 'group', 'aria-label': 'what one does with the steps' }, pin, insert, copy, this.keeping()),
      script,
      past.moments.length > 1 || this.state.measured.about ? this.ways() : '',
    );
  }

  /** The newest steps by themselves, the last first. */
  private last(): HTMLElement {
    const found = newest(this.state.past.steps, this.state.past.remarks);
    if (!found.length) return h('p', { class: 'last-step' }, 'no step was taken yet');
    const gain = gains(this.state.past, this.state.measured);
    const line = ([nth, step, { text, warns }]: [number, string, Remark]) =>
      h(
        'p',
        { class: 'last-step', title: [step, text, gain.get(nth)].filter(Boolean).join(': ') },
        `step ${nth}: `,
        h('code', {}, step),
        ' ',
        gain.has(nth) ? h('span', { class: 'gained', title: GAINED }, `${gain.get(nth)} `) : null,
        text ? h('span', { class: warns ? 'remark warns' : 'remark' }, text) : null,
      );
    return h('div', { class: 'last-steps', role: 'group', 'aria-label': 'the newest steps, the last first' }, ...found.map(line));
  }

  /** All of the panel as a file or a link, and back. */
  private keeping(): HTMLElement {
    const { state } = this;
    const kept = async (then: (found: Kept) => void) => {
      const found = await state.answer('keep', {});
      if (found) then(found);
    };
    const file = () =>
      void kept(({ name, text }) => {
        download(name, text, 'application/json');
        state.say(`${name} is saved: wb.panel(Path("${name}")) opens it, or the button "open"`);
      });
    const link = () => void kept((found) => void copyText(state, this.element, found.link, 'the link, which wb.panel(link) opens,'));
    const input = h('input', {
      type: 'file',
      accept: '.json',
      hidden: true,
      'aria-label': 'a panel that was saved',
      change: () => void this.open(input),
    });
    return h(
      'span',
      { class: 'pair keeping' },
      button('link', link, { class: 'link-state', title: 'copy all of this panel as one line of text, which wb.panel(link) opens' }),
      button('save', file, { class: 'save-state', title: 'all of this panel as a file' }),
      button('open', () => input.click(), { class: 'open-state', title: 'a panel that was saved, every step judged anew' }),
      input,
    );
  }

  private async open(input: HTMLInputElement): Promise<void> {
    const text = await input.files?.[0]?.text();
    if (text !== undefined && (await this.state.ask('restore', { text }))) this.state.say('the panel is as it was saved');
  }

  private lines(): string {
    const { steps } = this.state.past;
    if (!steps.length) return 'schedule = naive';
    return ['schedule = (', '    naive', ...steps.map((step) => `    | wb.${step}`), ')'].join('\n');
  }

  private ways(): HTMLElement {
    const { moments, place } = this.state.past;
    const rows = this.order().map((nth) => {
      const moment = moments[nth];
      return h(
        'li',
        { style: `padding-left:${Math.min(this.ancestors(nth), DEEPEST) * 10}px` },
        button(`${nth === this.state.pinned?.place ? '⚑ ' : ''}${moment.text}`, () => void this.state.ask('go', { place: nth }), {
          class: 'moment',
          'aria-current': nth === place ? 'step' : undefined,
          title: [moment.text, at(this.state.measured, nth)?.words].filter(Boolean).join(': '),
        }),
        this.time(nth),
        this.gained(nth),
      );
    });
    return h(
      'details',
      { open: true },
      h('summary', {}, `every way taken (${moments.length})`),
      h('ol', {}, ...rows),
      h('div', { class: 'measured' }, this.all(), this.about()),
    );
  }

  /** What was measured of a moment, at the end of its line. */
  private time(place: number): HTMLElement | null {
    const { measured } = this.state;
    const timing = at(measured, place);
    if (!timing) return (measured.busy ?? []).includes(place) ? h('span', { class: 'time' }, 'measuring …') : null;
    const { time, factors } = cameOf(timing);
    return h(
      'span',
      { class: `time${timing.seconds === null ? ' bad' : ''}`, title: timing.words },
      h('b', {}, ...shown(time)),
      ...factors.map((parts) => h('span', { class: 'factor' }, ...shown(parts))),
    );
  }

  /** What the model expected of the steps of a moment, beside what came of them. */
  private gained(place: number): HTMLElement | null {
    const gain = this.state.measured.gained?.[place];
    return gain ? h('span', { class: 'gained', title: GAINED }, ...shown(gainOf(gain))) : null;
  }

  private all(): HTMLElement | null {
    const { measured, past } = this.state;
    if (past.moments.every((_, place) => at(measured, place))) return null;
    return button('measure every line', () => void this.state.ask('measure', { do: 'all' }), {
      class: 'measure-all',
      disabled: (measured.busy ?? []).length > 0,
      title: 'build, check and time what was not yet, one after another',
    });
  }

  private about(): HTMLElement | null {
    const { about, naive, numpy } = this.state.measured;
    if (!about) return null;
    const beside = Object.entries({ naive, NumPy: numpy }).flatMap(([name, timing]) =>
      timing ? [`${name} ${words(cameOf(timing).time)}`] : [],
    );
    const { hardware = '' } = at(this.state.measured, this.state.past.place) ?? {};
    return h('span', { class: 'note' }, [about, ...beside].join(' · '), hardware ? h('span', { class: 'hardware' }, hardware) : null);
  }

  private ancestors(nth: number): number {
    const { parent } = this.state.past.moments[nth];
    return parent === null ? 0 : 1 + this.ancestors(parent);
  }

  /** Depth first, so that a branch stands below where it left. */
  private order(): number[] {
    const { moments } = this.state.past;
    const below = (parent: number | null): number[] => moments.flatMap((m, i) => (m.parent === parent ? [i, ...below(i)] : []));
    return below(null);
  }
}
