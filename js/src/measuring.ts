// What was measured of schedules, in words; the button that has what is shown built, checked and timed.

import { numberOf } from './counts';
import { button, h } from './dom';
import { duration } from './trial';
import type { State } from './state';
import type { Faster, MeasuredData, Timing } from './messages';

/** `12.5×`: how many times faster. */
export const factor = (value: number): string => `${value >= 100 ? value.toFixed(0) : value.toPrecision(value < 0.1 ? 2 : 3)}×`;

/** ` on 2 threads`; nothing where a GPU runs it. */
const on = (threads: number): string => (threads ? ` on ${numberOf(threads, 'thread')}` : '');

/** `12.5× NumPy on 2 threads (11.9 to 13)`: what both spreads leave open is in brackets. */
export function compared(name: string, { times, lower, upper, threads }: Faster, told = on(threads)): string {
  const [from, to] = [lower, upper].map((value) => factor(value).slice(0, -1));
  return `${factor(times)} ${name}${told} (${from} to ${to})`;
}

/** What came of a schedule, for a line of the history; what it is compared with by name. */
export function cameOf(timing: Timing, told?: string): { time: string; factors: string[] } {
  if (timing.seconds === null) return { time: `✕ ${timing.outcome}`, factors: [] };
  const beside: [string, Faster | null][] = [
    ['naive', timing.naive],
    ['NumPy', timing.numpy],
  ];
  return {
    time: `${duration(timing.seconds)}${told ?? on(timing.threads)}`,
    factors: beside.flatMap(([name, value]) => (value ? [compared(name, value, told)] : [])),
  };
}

/** One line, for the head of the panel; threads that are the same for all are said once, before it. */
export function line(timing: Timing): string {
  const others = [timing.naive, timing.numpy].filter((value) => value !== null);
  const once = timing.seconds !== null && others.length > 0 && others.every(({ threads }) => threads > 0 && threads === timing.threads);
  const { time, factors } = cameOf(timing, once ? '' : undefined);
  return (once ? `${numberOf(timing.threads, 'thread')}: ` : '') + [time, ...factors].join(' · ');
}

/** What was measured at a place of the history. */
export function at(data: Partial<MeasuredData>, place: number): Timing | null {
  return data.moments?.[place] ?? null;
}

export class MeasureButton {
  readonly element = h('span', { class: 'pair measuring' });
  readonly time = h('span', { class: 'time' });
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
    this.time.textContent = busy && !timing ? 'measuring …' : timing ? line(timing) : '';
    this.time.title = timing?.words ?? '';
    this.time.classList.toggle('bad', timing !== null && timing.seconds === null);
    this.tell(measured);
  }

  /** What came of it, for who does not see it. */
  private tell({ doing, said }: Partial<MeasuredData>): void {
    const now = doing ? `${doing} …` : (said ?? '');
    if (now && now !== this.said) this.state.say(now);
    this.said = now;
  }
}
