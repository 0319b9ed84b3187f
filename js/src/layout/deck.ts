// The panes on one screen: columns with borders that move, each pane with its name and buttons that enlarge or hide it.

import { button, h } from '../tools/dom';
import { moved, share } from './layout';
import type { Column, Plan } from './layout';

const WIDER = 1.9; // of a column with several texts side by side, unless somebody moved its border
const LEAST = 40; // pixels of a content that comes later
const KEYS: Record<string, number> = { ArrowLeft: -24, ArrowUp: -24, ArrowRight: 24, ArrowDown: 24 };

interface Placed {
  name: string;
  title: string;
  element: HTMLElement;
}

interface Told {
  hide(name: string): void;
  enlarge(name: string): void;
  shares(): Record<string, number>;
  share(shares: Record<string, number>, done: boolean): void;
  resized(name: string): void;
}

export class Deck {
  readonly element = h('div', { class: 'panes' });
  enlarged = '';
  private readonly slots = new Map<string, HTMLElement>();
  private readonly sizes = new Map<Element, [width: number, height: number]>();
  private readonly watcher: ResizeObserver;
  private key = '';

  constructor(private readonly told: Told) {
    this.watcher = new ResizeObserver((entries) => entries.forEach((entry) => this.changed(entry)));
    const goneOn = () => (this.awaited = null);
    for (const kind of ['wheel', 'pointerdown', 'keydown']) this.element.addEventListener(kind, goneOn, { passive: true, capture: true });
  }

  /** Panes at their places; nothing is touched where they stand there already. */
  place(plan: Plan, panes: Placed[]): void {
    const key = JSON.stringify(plan);
    const slots = new Map(panes.map((pane) => [pane.name, this.slot(pane)]));
    const known = plan.columns.flatMap((column) => column.panes).concat(plan.above, plan.below);
    if (!known.includes(this.enlarged)) this.enlarged = '';
    if (key !== this.key) {
      this.key = key;
      const row = (names: string[], name: string) => (names.length ? h('div', { class: name }, ...names.map((n) => slots.get(n)!)) : null);
      const rows = [row(plan.above, 'rows above'), this.columns(plan.columns, slots), row(plan.below, 'rows below')];
      this.element.replaceChildren(...rows.filter((e) => e !== null));
      this.element.classList.toggle('fitted', plan.columns.length > 0);
      this.element.classList.toggle('more', plan.below.length > 0);
    }
    this.spread();
    for (const [name, slot] of slots) {
      slot.classList.toggle('enlarged', name === this.enlarged);
      const press = slot.querySelector('.enlarge')!;
      press.setAttribute('aria-pressed', String(name === this.enlarged));
      this.watcher.observe(slot);
    }
    this.element.classList.toggle('one', this.enlarged !== '');
  }

  /** Scroll to a pane, within the panel. */
  reveal(name: string): void {
    this.awaited = this.slots.get(name) ?? null;
    this.awaited?.scrollIntoView({ block: 'nearest' });
  }
  private awaited: Element | null = null; // what was scrolled to before its content had come

  private slot({ name, title, element }: Placed): HTMLElement {
    const known = this.slots.get(name);
    if (known) return known;
    const made = h(
      'div',
      { class: 'slot', 'data-slot': name },
      h(
        'div',
        { class: 'slot-head' },
        h('span', { class: 'slot-name' }, title),
        h('span', { class: 'space' }),
        button('⤢', () => this.told.enlarge(name), {
          class: 'enlarge',
          'aria-label': `enlarge ${title}`,
          'aria-pressed': 'false',
          title: `${title} in the whole panel, and back (Escape)`,
        }),
        button('✕', () => this.told.hide(name), { class: 'hide', 'aria-label': `close ${title}`, title: `hide ${title}` }),
      ),
      element,
    );
    this.slots.set(name, made);
    return made;
  }

  private columns(columns: Column[], slots: Map<string, HTMLElement>): HTMLElement | null {
    if (!columns.length) return null;
    const made = columns.map(({ id, panes }) => {
      const inside = panes.map((name) => slots.get(name)!);
      return h('div', { class: 'column-of-panes', 'data-share': id }, ...this.bordered(inside, panes, 'horizontal'));
    });
    const ids = columns.map(({ id }) => id);
    return h('div', { class: 'screen' }, ...this.bordered(made, ids, 'vertical'));
  }

  /** Elements with a border between each two, which mouse and arrow keys move. */
  private bordered(elements: HTMLElement[], ids: string[], direction: 'vertical' | 'horizontal'): HTMLElement[] {
    return elements.flatMap((element, i) => (i ? [this.border(elements, ids, i - 1, direction), element] : [element]));
  }

  private border(elements: HTMLElement[], ids: string[], nth: number, direction: 'vertical' | 'horizontal'): HTMLElement {
    const upright = direction === 'vertical';
    const pixels = () => elements.map((e) => (upright ? e.offsetWidth : e.offsetHeight));
    const move = (from: Record<string, number>, at: number[], by: number, done: boolean) => {
      this.told.share(moved(from, ids, at, nth, by), done);
      this.spread();
    };
    const made: HTMLElement = h('div', {
      class: `border ${direction}`,
      role: 'separator',
      tabindex: 0,
      'aria-orientation': direction,
      'aria-label': `border between ${ids[nth]} and ${ids[nth + 1]}`,
      'aria-valuenow': 50,
      title: 'drag, or use the arrow keys; a double click takes the usual sizes',
      pointerdown: (event: PointerEvent) => {
        event.preventDefault();
        const [start, from, at] = [upright ? event.clientX : event.clientY, this.told.shares(), pixels()];
        const scale = (upright ? elements[nth].getBoundingClientRect().width : elements[nth].getBoundingClientRect().height) / at[nth] || 1;
        const drag = (now: PointerEvent) => move(from, at, ((upright ? now.clientX : now.clientY) - start) / scale, false);
        const drop = (now: PointerEvent) => {
          made.removeEventListener('pointermove', drag);
          made.removeEventListener('pointerup', drop);
          move(from, at, ((upright ? now.clientX : now.clientY) - start) / scale, true);
        };
        made.setPointerCapture(event.pointerId);
        made.addEventListener('pointermove', drag);
        made.addEventListener('pointerup', drop);
      },
      keydown: (event: KeyboardEvent) => {
        if (!(event.key in KEYS)) return;
        event.preventDefault();
        event.stopPropagation();
        move(this.told.shares(), pixels(), KEYS[event.key], true);
      },
      dblclick: () => {
        const usual = Object.entries(this.told.shares()).filter(([id]) => !ids.includes(id));
        this.told.share(Object.fromEntries(usual), true);
        this.spread();
      },
    });
    return made;
  }

  /** What each column and pane has of the room. */
  spread(): void {
    const shares = this.told.shares();
    this.element.querySelectorAll<HTMLElement>('.screen [data-share], .screen .slot').forEach((e) => {
      const id = e.dataset.share ?? e.dataset.slot!;
      const wider = id === 'texts' && !(id in shares) && e.querySelector('.code.wide') ? WIDER : 1;
      e.style.flexGrow = String(wider * share(shares, id));
    });
    this.element.querySelectorAll<HTMLElement>('.border').forEach((e) => {
      const [a, b] = [e.previousElementSibling as HTMLElement, e.nextElementSibling as HTMLElement];
      const [x, y] = [Number(a.style.flexGrow), Number(b.style.flexGrow)];
      e.setAttribute('aria-valuenow', String(Math.round((100 * x) / (x + y))));
    });
  }

  /** A pane whose picture has another room is told; its height counts only where nothing in it decides it. */
  private changed({ target, contentRect: { width, height } }: ResizeObserverEntry): void {
    const before = this.sizes.get(target);
    this.sizes.set(target, [width, height]);
    if (!before || width < 1) return;
    if (target === this.awaited && height > before[1] + LEAST) {
      this.awaited = null;
      target.scrollIntoView({ block: 'nearest' });
    }
    const high = target.closest('.screen') !== null && Math.abs(height - before[1]) > 6;
    if (Math.abs(width - before[0]) > 6 || high) this.told.resized((target as HTMLElement).dataset.slot!);
    else this.sizes.set(target, before);
  }

  close(): void {
    this.watcher.disconnect();
  }
}
