// What was measured of schedules, in words; the button that has what is shown built, checked and timed.

import { duration, numberOf, rounded } from '../tools/quantities';
import { button, h } from '../tools/dom';
import type { State } from '../state/state';
import type { Faster, Gained, MeasuredData, Timing } from '../state/messages';

/** `12.5×`: how many times faster. */
export const factor = (value: number): string => `${value >= 100 ? value.toFixed(0) : value.toPrecision(value < 0.1 ? 2 : 3)}×`;

const SHORTER = ['no-spread', 'no-threads', 'no-steps']; // what a time in the head takes its room from, in this order

/** ` on 2 threads`; nothing where a GPU runs it. */
const on = (threads: number): string => (threads ? ` on ${numberOf(threads, 'thread')}` : '');

/** A piece of what is said; where there is little room spreads go first, then threads. */
export type Part = [text: string, kind?: 'threads' | 'spread'];

export const words = (parts: Part[]): string => parts.map(([text]) => text).join('');
export const shown = (parts: Part[]) => parts.map(([text, kind]) => (kind && text ? h('span', { class: kind }, text) : text));

/** `12.5× NumPy on 2 threads (11.9 to 13)`: what both spreads leave open is in brackets. */
export function compared(name: string, { times, lower, upper, threads }: Faster, told = on(threads)): Part[] {
  return [[`${factor(times)} ${name}`], [told, 'threads'], [spread(lower, upper), 'spread']];
}

const spread = (lower: number, upper: number): string => {
  const [from, to] = [lower, upper].map((value) => factor(value).slice(0, -1));
  return ` (${from} to ${to})`;
};

/** What came of a schedule, for a line of the history; what it is compared with by name. */
export function cameOf(timing: Timing, told?: string): { time: Part[]; factors: Part[][] } {
  if (timing.seconds === null) return { time: [[`✕ ${timing.outcome}`]], factors: [] };
  const beside: [string, Faster | null][] = [
    ['naive', timing.naive],
    ['NumPy', timing.numpy],
  ];
  return {
    time: [[duration(timing.seconds)], [told ?? on(timing.threads), 'threads']],
    factors: beside.flatMap(([name, value]) => (value ? [compared(name, value, told)] : [])),
  };
}

/** One line, for the head of the panel; threads that are the same for all are said once, before it. */
export function line(timing: Timing): Part[] {
  const others = [timing.naive, timing.numpy].filter((value) => value !== null);
  const once = timing.seconds !== null && others.length > 0 && others.every(({ threads }) => threads > 0 && threads === timing.threads);
  const { time, factors } = cameOf(timing, once ? '' : undefined);
  const first: Part[] = once ? [[`${numberOf(timing.threads, 'thread')}: `, 'threads']] : [];
  return [...first, ...time, ...factors.flatMap((one): Part[] => [[' · '], ...one])];
}

/** `expected 2.1×, measured 1.8× (1.7 to 1.9)`: what was to be gained over the line before, or since the last with a time. */
export function gainOf({ expected, unmodelled, measured, since }: Gained): Part[] {
  const before: Part[] = expected === null ? [['expected: '], [unmodelled]] : [[`expected ${rounded(expected)}`]];
  if (!measured) return [...before, [', the line before is not measured']];
  const last: Part[] = since ? [[` since ${since}`]] : [];
  return [...before, [`, measured ${rounded(measured.times)}`], [spread(measured.lower, measured.upper), 'spread'], ...last];
}

export const GAINED = 'how many times faster than the line before, or the last before it that has a time: by the model, and by the clock';

/** What was measured at a place of the history. */
export function at(data: Partial<MeasuredData>, place: number): Timing | null {
  return data.moments?.[place] ?? null;
}

export class MeasureButton {
  readonly element = h('span', { class: 'pair measuring' });
  readonly time = h('span', { class: 'time' });
  /** All of a time that is said in short, seen by whoever comes to it with the keyboard. */
  readonly full = h('span', { class: 'full', 'aria-hidden': 'true' });
  private readonly press: HTMLButtonElement;
  private said = '';

  constructor(private readonly state: State) {
    const warm = () => void this.warm();
    this.press = button('', () => void this.go(), { class: 'measure-now', pointerenter: warm, focus: warm });
    this.element.append(this.press);
    this.draw();
  }

  private get running(): boolean {
    return (this.state.measured.busy ?? []).length > 0;
  }

  /** Measure what is shown, or stop what runs. */
  async go(): Promise<void> {
    await this.state.ask('measure', { do: this.running ? 'stop' : 'now' });
  }

  /** Processes take a second to start: they do while the hand comes near. */
  private async warm(): Promise<void> {
    if (this.state.measured.about === undefined && !this.warmed) await this.state.answer('measure', { do: 'warm' }, true);
    this.warmed = true;
  }
  private warmed = false;

  draw(): void {
    const { measured, past } = this.state;
    const { running } = this;
    this.press.textContent = running ? '■ stop' : '▶ measure';
    this.press.setAttribute(
      'title',
      running
        ? `${measured.doing?.length ? measured.doing : 'waiting'}: give it up (m)`
        : 'build it, check its results against the oracle, and time it (m); the page stays alive meanwhile',
    );
    const timing = at(measured, past.place);
    const busy = (measured.busy ?? []).includes(past.place);
    this.time.replaceChildren(...(busy && !timing ? ['measuring …'] : timing ? shown(line(timing)) : []));
    this.time.title = this.full.textContent = timing?.words ?? '';
    this.time.classList.toggle('bad', timing !== null && timing.seconds === null);
    this.tell(measured);
  }

  /** As much of the time as there is room for: spreads go first, then threads, then what stands before it. */
  fit(): void {
    const { time } = this;
    const cut = () => time.scrollWidth > time.clientWidth + 1;
    time.classList.remove(...SHORTER);
    const short = SHORTER.filter((name) => {
      if (!cut()) return false;
      time.classList.add(name);
      return true;
    });
    if (short.length) time.tabIndex = 0;
    else time.removeAttribute('tabindex');
  }

  /** What came of it, for who does not see it. */
  private tell({ doing, said }: Partial<MeasuredData>): void {
    const now = doing ? `${doing} …` : (said ?? '');
    if (now && now !== this.said) this.state.say(now);
    this.said = now;
  }
}
