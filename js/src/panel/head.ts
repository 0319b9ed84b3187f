// The head of a panel: what is shown, its steps and times, and the buttons that are no pane's.

import { MeasureButton } from '../schedule/measuring';
import { GONE } from '../state/client';
import { button, h } from '../tools/dom';
import { numberOf } from '../tools/quantities';
import { PANES } from './panes';
import type { State } from '../state/state';

/** What buttons of the head ask of the panel. */
interface Asked {
  toggle: (name: string) => void;
  talk: () => void;
  fill: () => void;
}

export class Head {
  readonly element: HTMLElement;
  readonly measure: MeasureButton;
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly talk: HTMLButtonElement;
  readonly gone = h('span', { class: 'gone', role: 'alert', hidden: true }, GONE);
  readonly title = h('b', { class: 'title' });
  private readonly sizes = h('span', { class: 'soft sizes' });
  private readonly choice = h('span', { class: 'choice', role: 'group', 'aria-label': 'panes that are shown' });

  constructor(
    private readonly state: State,
    private readonly asked: Asked,
  ) {
    this.measure = new MeasureButton(state);
    this.undo = button('↶ undo', () => void state.ask('undo', {}), { class: 'undo', title: 'undo (Ctrl+Z)' });
    this.redo = button('↷ redo', () => void state.ask('redo', {}), { class: 'redo', title: 'redo (Ctrl+Shift+Z)' });
    this.talk = button('talk', () => asked.talk(), {
      class: 'talk-layout',
      title: 'two panes in large type; the buttons of the panes choose which',
    });
    const screen = button('full screen', () => asked.fill(), { class: 'full-screen', title: 'the whole screen, and back (Escape)' });
    this.element = h(
      'div',
      { class: 'head' },
      this.title,
      this.sizes,
      this.measure.time,
      this.measure.full,
      this.gone,
      h('span', { class: 'space' }),
      this.choice,
      h('span', { class: 'pair' }, this.measure.element, this.undo, this.redo),
      h('span', { class: 'pair' }, this.talk, screen),
    );
  }

  /** A button for each pane; those that are shown are pressed, and *talk* in a talk. */
  choose(now: string[], talk: boolean): void {
    this.talk.setAttribute('aria-pressed', String(talk));
    this.choice.replaceChildren(
      ...Object.entries(PANES).map(([name, [text]]) =>
        button(text, () => this.asked.toggle(name), {
          class: 'pane-toggle',
          'data-pane': name,
          'aria-pressed': String(now.includes(name)),
          title: now.includes(name) ? `hide ${text}` : `show ${text}`,
        }),
      ),
    );
  }

  focus(name: string): void {
    this.choice.querySelector<HTMLElement>(`[data-pane="${name}"]`)?.focus({ preventScroll: true });
  }

  draw(): void {
    const { past } = this.state;
    this.undo.disabled = !past.undo;
    this.redo.disabled = !past.redo;
    const count = past.steps.length;
    const remark = past.remarks[count - 1];
    this.sizes.replaceChildren(
      count ? `${numberOf(count, 'step')}, legal${remark?.text ? ', the last: ' : ''}` : 'no steps yet: it runs in the order of its text',
      remark?.text ? h('span', { class: remark.warns ? 'warns' : undefined }, remark.text) : '',
    );
    this.sizes.title = this.title.title = this.sizes.textContent ?? '';
  }
}
