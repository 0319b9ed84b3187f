// The machine that bytes are counted for: caches and the width of vectors on sliders.

import { h } from '../tools/dom';
import { LEVELS } from '../state/levels';
import { bytes } from '../tools/quantities';
import type { State } from '../state/state';

const [LEAST, MOST] = [10, 28]; // powers of two
const WIDTHS = [64, 128, 256, 512, 1024];

export class MachineBar {
  readonly element = h('div', { class: 'machine', role: 'group', 'aria-label': 'the machine that is counted for' });
  private readonly rows: { range: HTMLInputElement; text: HTMLElement; show: () => void }[] = [];

  constructor(private readonly state: State) {
    LEVELS.forEach((name, i) => this.cache(name, i));
    this.width();
    this.show();
    state.onMachine(() => this.show());
  }

  show(): void {
    if (this.state.machine) for (const row of this.rows) row.show();
  }

  private cache(name: string, i: number): void {
    const change = (done: boolean) => {
      const sizes = [...this.state.machine.cache_bytes] as [number, number, number];
      const power = Number(range.value);
      sizes[i] = power < LEAST ? 0 : Math.round(2 ** power);
      this.state.setMachine({ cache_bytes: sizes }, done);
      if (done) this.state.say(`${name} of ${bytes(sizes[i])}`);
    };
    const range = this.slider(name, LEAST - 0.25, MOST, 0.25, `bytes of ${name}`, change);
    this.row(name, range, () => {
      const size = this.state.machine.cache_bytes[i];
      range.value = String(size ? Math.log2(size) : LEAST - 0.25);
      return size ? bytes(size) : 'none';
    });
  }

  private width(): void {
    const change = (done: boolean) => this.state.setMachine({ vector_bits: WIDTHS[Number(range.value)] }, done);
    const range = this.slider('vectors', 0, WIDTHS.length - 1, 1, 'bits of a vector', change);
    this.row('vectors', range, () => {
      const at = WIDTHS.indexOf(this.state.machine.vector_bits);
      range.value = String(Math.max(0, at));
      return `${this.state.machine.vector_bits} bits`;
    });
  }

  private slider(name: string, min: number, max: number, step: number, label: string, change: (done: boolean) => void): HTMLInputElement {
    return h('input', {
      type: 'range',
      min,
      max,
      step,
      'aria-label': label,
      'data-machine': name,
      input: () => change(false),
      change: () => change(true),
    });
  }

  private row(name: string, range: HTMLInputElement, value: () => string): void {
    const text = h('output', {});
    const show = () => {
      text.textContent = value();
      range.setAttribute('aria-valuetext', text.textContent);
    };
    this.rows.push({ range, text, show });
    this.element.append(h('label', { class: 'dial' }, h('span', { class: 'soft' }, name), range, text));
  }
}
