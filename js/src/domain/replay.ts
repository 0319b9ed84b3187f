// The order of execution on a slider: what has run is filled, what runs now is ringed.

import { numberOf } from '../tools/quantities';
import { button, download, h } from '../tools/dom';
import { concurrent } from '../state/moments';
import type { State } from '../state/state';

const FRAME = 90; // milliseconds a step while it plays

export class ReplayBar {
  readonly element = h('div', { class: 'replay' });
  private readonly range: HTMLInputElement;
  private readonly output = h('output');
  private readonly play: HTMLButtonElement;
  private timer: number | undefined;
  private drawn: unknown = null;
  private order: [statement: number, row: number][][] = []; // what runs in each step of the time
  private readonly together: HTMLInputElement;
  private readonly choice: HTMLElement;

  constructor(private readonly state: State) {
    this.range = h('input', {
      type: 'range',
      min: 0,
      value: 0,
      'aria-label': 'time: how many instances have run',
      input: () => this.set(Number(this.range.value)),
    });
    this.play = button('▶ replay', () => this.toggle(), { class: 'play', title: 'run through the instances in the order of execution' });
    this.together = h('input', {
      type: 'checkbox',
      change: () => {
        state.together = this.together.checked;
        this.drawn = null;
        this.draw();
        state.light();
      },
    });
    this.choice = h(
      'label',
      { class: 'together', title: 'threads side by side, the lanes of a vector in one step' },
      this.together,
      'threads at once',
    );
    const film = (kind: string) =>
      button(kind.toUpperCase(), () => void this.export(kind), {
        class: 'film',
        'data-film': kind,
        title: `save the execution as ${kind === 'gif' ? 'an animated picture' : 'a page with a time slider'}`,
      });
    this.element.append(this.play, this.range, this.output, h('span', { class: 'films' }, this.choice, film('gif'), film('html')));
  }

  draw(): void {
    const { data } = this.state;
    if (data === this.drawn) return; // the same instances in the same order: time stands where it stood
    this.drawn = data;
    this.stop();
    this.choice.hidden = !concurrent(data);
    if (this.choice.hidden) this.state.together = this.together.checked = false;
    this.order = [];
    data.domain.statements.forEach((s, number) => {
      for (let row = 0; row < s.points[1]; row += 1) (this.order[this.state.when(number, row)] ??= []).push([number, row]);
    });
    this.range.max = String(this.order.length);
    this.state.time = null;
    this.range.value = this.range.max;
    this.output.textContent = numberOf(this.order.length, this.state.together ? 'moment' : 'instance');
    this.output.title = `${this.output.textContent} drawn: of the sizes that are drawn, which the note below has where they are smaller`;
  }

  /** The film as a file, made by the kernel. */
  private async export(kind: string): Promise<void> {
    this.state.say(`the ${kind.toUpperCase()} is being made …`);
    const made = await this.state.answer('film', { kind });
    if (!made) return;
    const bytes = Uint8Array.from(atob(made.data), (c) => c.charCodeAt(0));
    download(made.name, bytes, made.type);
    this.state.say(`${made.name} is saved, ${Math.round(bytes.length / 1024)} KiB`);
  }

  private set(time: number): void {
    this.state.time = time >= this.order.length ? null : time;
    this.range.value = String(time);
    const last = time > 0 ? this.order[time - 1] : undefined;
    const more = last && last.length > 1 ? ` and ${last.length - 1} more` : '';
    this.output.textContent =
      this.state.time === null || !last ? `${time} of ${this.order.length}` : `${time}: ${this.state.data.named(...last[0])}${more}`;
    this.output.title = this.output.textContent; // a name of many numbers may have too little room
    if (last && this.state.time !== null) {
      const own = this.state.data.domain.statements[last[0][0]];
      this.state.hover({ statement: own.name, instance: this.state.data.row(own.points, last[0][1]) });
    } else this.state.hover(null);
    this.state.light();
  }

  private toggle(): void {
    if (this.timer !== undefined) return this.stop();
    this.play.textContent = '❚❚ pause';
    if (Number(this.range.value) >= this.order.length) this.set(0);
    const jump = Math.max(1, Math.round(this.order.length / 400));
    this.timer = window.setInterval(() => {
      const next = Math.min(this.order.length, Number(this.range.value) + jump);
      this.set(next);
      if (next >= this.order.length || !this.element.isConnected) this.stop();
    }, FRAME);
  }

  stop(): void {
    window.clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = '▶ replay';
  }
}
