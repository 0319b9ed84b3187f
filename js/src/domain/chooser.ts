// What of a program is drawn where not all of it can be: a button or a list for each picture, and how much it is of the work.

import { CROWD, choices, costliest, keyOf, oneAtATime, part } from './choice';
import type { Choice, RoomFor } from './choice';
import { button, h } from '../tools/dom';
import type { Nest } from '../state/messages';
import type { State } from '../state/state';

const ALL = '*'; // no nest is called so
const BUTTONS = 7; // pictures to choose from that have a button each; more stand in a list

export class Chooser {
  private only = '';
  private between: Nest | null = null; // the two ends of a refused step's witness, which stand in a crowded nest
  private followed: unknown = null;

  constructor(
    private readonly state: State,
    private readonly room: () => RoomFor,
    private readonly redraw: () => void,
  ) {}

  private get several(): boolean {
    return oneAtATime(this.state.data, this.room());
  }

  /** Of many one at a time, the one chosen last or the one that costs most; of few, all. */
  chosen(): Nest[] {
    const { data } = this.state;
    const all = choices(data);
    const known = [...all.map(({ nest }) => nest), ...(this.between ? [this.between] : [])];
    const one = known.find((nest) => keyOf(data, nest) === this.only);
    if (one) return [one];
    return this.several && this.only !== ALL && all.length ? [costliest(all).nest] : data.domain.nests;
  }

  private show(only: string): void {
    this.only = only;
    this.redraw();
  }

  /** What else may be shown, in the order it runs in, and how much of the work is seen now; nothing where all is shown. */
  element(shown: Nest[]): HTMLElement | null {
    if (!this.several) return null;
    const all = choices(this.state.data);
    const now = shown.length === 1 ? keyOf(this.state.data, shown[0]) : ALL;
    return h(
      'div',
      { class: 'nest-choices', role: 'group', 'aria-label': 'what is drawn, in the order it runs in' },
      ...(all.length > BUTTONS ? [this.list(all, now)] : this.buttons(all, now)),
      h(
        'span',
        { class: 'soft shown-of', title: 'operations, and accesses to memory, of all instances at the sizes of the schedule' },
        this.seen(all, now),
      ),
    );
  }

  private buttons(all: Choice[], now: string): HTMLElement[] {
    const made = (key: string, text: string, title: string) =>
      button(text, () => this.show(key), { class: 'nest-choice', 'aria-pressed': String(key === now), title });
    const { data } = this.state;
    return [
      ...all.map(({ nest, names }) => made(keyOf(data, nest), names.join(' · '), `only the picture of ${names.join(', ')}`)),
      made(ALL, 'all', 'all nests, one after another'),
    ];
  }

  private list(all: Choice[], now: string): HTMLElement {
    const { data } = this.state;
    const option = (key: string, text: string) => h('option', { value: key, selected: key === now }, text);
    const ends = this.between && keyOf(data, this.between) === now ? [option(now, 'the two that would be in the wrong order')] : [];
    return h(
      'select',
      {
        class: 'nest-list',
        'aria-label': 'what is drawn',
        title: 'every statement and every nest, in the order they run in',
        change: (event: Event) => this.show((event.target as HTMLSelectElement).value),
      },
      ...ends,
      ...all.map(({ nest, names, whole, share }) =>
        option(keyOf(data, nest), whole ? `all ${names.length} of this nest` : `${names.join(' · ')} (${percent(share)})`),
      ),
      option(ALL, 'all nests, one after another'),
    );
  }

  /** How many are seen of how many, and why this one. */
  private seen(all: Choice[], now: string): string {
    const at = all.find(({ nest }) => keyOf(this.state.data, nest) === now);
    if (!at || at.whole) return '';
    return shareOf(at.share, all.filter(({ whole }) => !whole).length, at === costliest(all));
  }

  /** What is selected elsewhere and is not drawn takes the place of the one picture. */
  follow(shown: Nest[]): void {
    const { selection, hovered, lit, data } = this.state;
    if (hovered || selection === this.followed) return;
    this.followed = selection;
    const drawn = shown.flatMap(({ statements }) => statements.map((n) => data.domain.statements[n].name));
    const names = [...lit.statements];
    if (!names.length || !this.several || this.only === ALL || names.some((name) => drawn.includes(name))) return;
    const wanted = choices(data).find((choice) => !choice.whole && choice.names.some((name) => names.includes(name)));
    if (wanted) this.show(keyOf(data, wanted.nest));
  }

  /** The picture in which two statements of one nest are seen; of a crowded nest only these two. */
  ofBoth(ends: number[]): Nest | undefined {
    const { data } = this.state;
    const around = data.domain.nests.find(({ statements }) => ends.every((n) => statements.includes(n)));
    const crowded = around !== undefined && around.statements.length > CROWD;
    this.between = crowded ? part(data, around, [...new Set(ends)]) : null;
    return this.between ?? around;
  }

  /** The picture of a statement, where the others are a button away. */
  showStatement(name: string): void {
    const wanted = this.several ? choices(this.state.data).find((choice) => !choice.whole && choice.names.includes(name)) : undefined;
    if (wanted) this.show(keyOf(this.state.data, wanted.nest));
  }

  /** From now on only this picture. */
  take(nest: Nest): void {
    this.only = keyOf(this.state.data, nest);
  }
}

/** What the one picture of several is of all, and in what that is counted. */
export function shareOf(share: number, count: number, most: boolean): string {
  return `1 of ${count} shown${most ? ': it costs most' : ''}, ${percent(share)} of operations and accesses`;
}

const percent = (share: number): string => (share > 0 && share < 0.01 ? 'under 1 %' : `${Math.round(100 * share)} %`);
