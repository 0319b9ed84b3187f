// What is chosen for the picture of a nest: its axes, the values on its sliders, its part of the view, a tile by numbers.

import { WHOLE } from '../plot/frame';
import type { Plot } from '../plot/plot';
import { sliders } from '../plot/scene';
import type { Look } from '../plot/scene';
import { button, h } from '../tools/dom';
import type { Nest } from '../state/messages';
import type { State } from '../state/state';

/** What these act on: the plot that stands there, and how it is drawn anew, alone or with all that stands around it. */
interface Drawn {
  plot: () => Plot;
  draw: () => void;
  redraw: () => void;
}

export class Controls {
  constructor(
    private readonly state: State,
    private readonly nest: Nest,
    private readonly look: Look,
    private readonly on: Drawn,
  ) {}

  get element(): HTMLElement {
    const { nest, look } = this;
    const axes = h(
      'div',
      { class: 'axes' },
      look.x ? this.axis('x') : null,
      look.y ? this.axis('y') : null,
      look.x && look.y
        ? button(`interchange ${look.x}, ${look.y}`, () => this.interchange(), {
            class: 'interchange',
            title: `a step of the schedule: the loop of ${look.x} and the loop of ${look.y} in each other's place`,
          })
        : null,
      h(
        'span',
        { class: 'pair' },
        button('−', () => this.on.plot().zoom(0.8), { 'aria-label': 'zoom out' }),
        button('+', () => this.on.plot().zoom(1.25), { 'aria-label': 'zoom in' }),
        button('fit', () => this.on.plot().move(WHOLE), { class: 'fit', title: 'the whole picture' }),
      ),
    );
    const several = (dim: string) => this.state.data.range(dim, nest.statements)[1] > this.state.data.range(dim, nest.statements)[0];
    const rows = sliders(this.state.data, nest, look)
      .filter(several)
      .map((dim) => this.slider(dim));
    return h('div', { class: 'controls' }, axes, ...rows, look.x ? this.byNumbers() : null);
  }

  private axis(axis: 'x' | 'y'): HTMLElement {
    const { nest, look } = this;
    return h(
      'label',
      {},
      `${axis} `,
      h(
        'select',
        {
          'data-axis': axis,
          change: (event: Event) => {
            const chosen = (event.target as HTMLSelectElement).value;
            const other = axis === 'x' ? 'y' : 'x';
            if (look[other] === chosen) look[other] = look[axis];
            look[axis] = chosen;
            this.on.draw();
          },
        },
        ...nest.axes.map((name) => h('option', { value: name, selected: name === look[axis] }, name)),
      ),
    );
  }

  private slider(dim: string): HTMLElement {
    const { nest, look } = this;
    const [low, high] = this.state.data.range(dim, nest.statements);
    const value = look.at[dim];
    const text = h('output', {}, value ?? `${low}…${high}`);
    const range = h('input', {
      type: 'range',
      min: low,
      max: high,
      value: value ?? low,
      disabled: value === null,
      'data-dim': dim,
      'aria-label': `value of ${dim}`,
      input: (event: Event) => {
        look.at[dim] = Number((event.target as HTMLInputElement).value);
        text.textContent = String(look.at[dim]);
        this.on.redraw();
      },
    });
    const all = h('input', {
      type: 'checkbox',
      checked: value === null,
      change: (event: Event) => {
        look.at[dim] = (event.target as HTMLInputElement).checked ? null : low;
        this.on.draw();
      },
    });
    return h(
      'div',
      { class: `slider${value === null ? ' all' : ''}` },
      h('span', { class: 'dim' }, dim),
      range,
      text,
      h('label', {}, all, 'all'),
    );
  }

  /** The drags as numbers, for the keyboard. */
  private byNumbers(): HTMLElement {
    const { look } = this;
    const number = (axis: string) => h('input', { type: 'number', min: 1, value: 1, 'aria-label': `tile size along ${axis}` });
    const named = (axis: string, input: HTMLElement) => h('label', { class: 'tile-along' }, h('span', { class: 'dim' }, axis), input);
    const [width, height] = [number(look.x), number(look.y)];
    const send = () =>
      void this.state.gesture('tile', {
        statement: this.on.plot().largest.name,
        x: look.x,
        y: look.y,
        width: Number(width.value),
        height: Number(height.value),
      });
    return h(
      'div',
      { class: 'numbers' },
      'tile ',
      named(look.x, width),
      look.y ? ' × ' : '',
      look.y ? named(look.y, height) : null,
      ' ',
      button('apply', send, { class: 'tile-apply' }),
    );
  }

  private interchange(): void {
    const { look } = this;
    void this.state.gesture('interchange', { statement: this.on.plot().largest.name, first: look.x, second: look.y });
  }
}
