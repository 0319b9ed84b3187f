// What may be done at a loop or a statement, where it was asked for: what gains most first, what is refused with its witness.

import { numberOf, rounded } from '../tools/quantities';
import { button, h } from '../tools/dom';
import { explained } from '../tools/glossary';
import type { MenuOf, State } from '../state/state';
import type { BlockSizes, Choice, MenuData } from '../state/messages';

const PART = 0.06; // seconds of looking at a time
const NOTICED = 0.015;
/** What a step has to gain to be worth a beginning: less is within what the model knows. */
export const WORTH = 0.05;

/** The same where a step is expected to change anything that two digits show. */
export function gained(gain: number): string {
  const text = rounded(gain);
  return Math.abs(gain - 1) < NOTICED || parseFloat(text) === 1 ? '' : text;
}

/** Why a step stands where it does, in one line. */
export function because(choice: Choice): string {
  return choice.legal ? choice.why.join(' · ') : choice.reason;
}

/** The steps with which one would begin: those that gain more than the model may be wrong by, the best of each kind. */
export function best(steps: Choice[], count: number): Choice[] {
  const found = new Map<string, Choice>();
  for (const step of steps) if (step.legal && step.gain >= 1 + WORTH && !found.has(step.kind)) found.set(step.kind, step);
  return [...found.values()].slice(0, count);
}

/** How long a loop is, and that no block of whole vectors divides it where none does. */
export function lengthOf({ iterations, sizes }: BlockSizes): string {
  return `${numberOf(iterations, 'iteration')}${sizes.length ? '' : ', too few for blocks of whole vectors'}`;
}

/** Where a menu of so many pixels goes: beside the place it was asked for at, within what is seen. */
export function beside(at: number, size: number, from: number, to: number): number {
  return Math.max(from, Math.min(at, to - size));
}

export class LoopMenu {
  readonly element = h('div', { class: 'loop-menu', role: 'dialog', hidden: true });
  private readonly list = h('div', { class: 'mays', role: 'menu' });
  private readonly note = h('p', { class: 'soft note', role: 'status' });
  private readonly form = h('div', { class: 'block-sizes' });
  private asked = 0;
  private from: HTMLElement | null = null;

  constructor(private readonly state: State) {
    this.element.append(this.form, this.list, this.note);
    this.element.addEventListener('keydown', (event) => this.keys(event));
    this.element.addEventListener('focusout', (event) => {
      if (event.relatedTarget && !this.element.contains(event.relatedTarget as Node)) this.close();
    });
  }

  /** Open it at a place of the window, for a loop (as steps name it) or for a statement. */
  async open(of: MenuOf, x: number, y: number, from: HTMLElement): Promise<void> {
    const number = (this.asked += 1);
    const { place } = this.state.past;
    const what = 'loop' in of ? `loop ${of.loop}` : `statement ${of.statement}`;
    this.from = from;
    this.element.setAttribute('aria-label', `what may be done at ${what}`);
    this.element.hidden = false;
    this.form.replaceChildren(h('b', {}, what));
    this.list.replaceChildren();
    this.note.textContent = 'looking at what is legal …';
    this.put(x, y);
    let more = true;
    let first = true;
    while (more && number === this.asked && place === this.state.past.place) {
      const found = await this.state.answer('menu', { ...of, part: PART }, true);
      if (!found || number !== this.asked) return;
      more = found.more;
      if (first) this.fillForm(what, found.blocks, 'loop' in of ? of.loop : '');
      this.fill(found);
      this.put(x, y);
      if (first) this.items()[0]?.focus({ preventScroll: true });
      first = false;
    }
  }

  close(back = false): void {
    if (this.element.hidden) return;
    this.asked += 1;
    this.element.hidden = true;
    if (back && this.from?.isConnected) this.from.focus({ preventScroll: true });
  }

  private put(x: number, y: number): void {
    const root = this.element.parentElement!.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${beside(x - root.left, offsetWidth, 4, root.width - 4)}px`;
    this.element.style.top = `${beside(y - root.top, offsetHeight, 4, Math.min(root.height, window.innerHeight - root.top) - 4)}px`;
  }

  private items(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>('[role=menuitem]')];
  }

  private fill({ steps, more, unmodelled }: MenuData): void {
    const now = document.activeElement as HTMLElement | null;
    const focused = now && this.list.contains(now) ? now.dataset.text : undefined;
    this.list.replaceChildren(...steps.map((choice) => this.row(choice)));
    const known = unmodelled || 'gains are modelled: measure to know';
    this.note.textContent = more ? 'looking further …' : steps.length ? known : 'nothing may be done here';
    if (focused !== undefined)
      this.items()
        .find((item) => item.dataset.text === focused)
        ?.focus({ preventScroll: true });
  }

  private row(choice: Choice): HTMLElement {
    const take = () => {
      this.close(true);
      void this.state.apply(choice.step, choice.text);
    };
    return h(
      'button',
      {
        type: 'button',
        role: 'menuitem',
        class: `may${choice.legal ? '' : ' illegal'}`,
        tabindex: -1,
        'data-text': choice.text,
        'data-legal': String(choice.legal),
        title: choice.legal ? 'apply' : 'refused: a click shows the two instances that prove it',
        click: take,
      },
      h('code', {}, choice.text),
      h('span', { class: `gain${choice.gain < 1 ? ' loss' : ''}` }, choice.legal ? gained(choice.gain) : ''),
      h(
        'small',
        { class: choice.legal && choice.warns ? 'warns' : undefined, title: (choice.legal && explained(because(choice))) || undefined },
        because(choice),
      ),
    );
  }

  /** Sizes of blocks: those that fit as buttons for the loop itself, a number beside every loop around. */
  private fillForm(what: string, blocks: BlockSizes[], loop: string): void {
    const own = blocks.find((one) => one.loop === loop) ?? blocks.find((one) => one.loop.endsWith(`/${loop}`));
    const inputs = blocks.map((one) => {
      const list = h('datalist', {}, ...one.sizes.map(([size, why]) => h('option', { value: size, label: why })));
      list.id = `wbp-sizes-${(lists += 1)}`;
      const input = h('input', {
        type: 'number',
        min: 1,
        value: 1,
        list: list.id,
        'data-loop': one.loop,
        'aria-label': `block of ${one.loop}, of ${numberOf(one.iterations, 'iteration')}`,
        input: () => this.judge(),
      });
      return h('label', {}, `${one.loop} `, input, list);
    });
    const snapped = own?.sizes.map(([size, why]) =>
      button(String(size), () => this.typed({ [own.loop]: size }), {
        class: 'snap',
        title: why,
        'aria-label': `blocks of ${size} of ${own.loop}: ${why}`,
      }),
    );
    this.form.replaceChildren(
      h(
        'div',
        { class: 'menu-head' },
        h('b', {}, what),
        h('span', { class: 'soft' }, own ? lengthOf(own) : ''),
        button('✕', () => this.close(true), { class: 'menu-close', 'aria-label': 'close the menu' }),
      ),
      snapped?.length ? h('div', { class: 'snaps' }, h('span', { class: 'soft' }, 'blocks of '), ...snapped) : '',
      inputs.length
        ? h(
            'div',
            { class: 'typed' },
            ...inputs,
            button('tile', () => this.typed(this.sizes()), { class: 'tile-typed', title: 'blocks of these sizes' }),
            h('span', { class: 'verdict soft' }),
          )
        : '',
    );
  }

  private sizes(): Record<string, number> {
    const inputs = [...this.form.querySelectorAll<HTMLInputElement>('input[data-loop]')];
    const sizes: [string, number][] = inputs.map((input) => [input.dataset.loop!, Number(input.value)]);
    return Object.fromEntries(sizes.filter(([, size]) => size > 1));
  }

  /** What is typed is said to be refused as soon as the kernel says so. */
  private judge(): void {
    const sizes = this.sizes();
    const said = this.form.querySelector('.verdict')!;
    if (!Object.keys(sizes).length) return said.replaceChildren();
    const legal = this.state.lazy.judge('blocks', { sizes }, () => this.judge());
    said.textContent = legal === undefined ? '…' : legal ? 'legal' : '✕ would be refused';
    said.classList.toggle('bad', legal === false);
  }

  private typed(sizes: Record<string, number>): void {
    this.close(true);
    void this.state.gesture('blocks', { sizes });
  }

  private keys(event: KeyboardEvent): void {
    const items = this.items();
    const at = items.indexOf(document.activeElement as HTMLElement);
    const typing = (event.target as HTMLElement).matches('input');
    if (event.key === 'Escape') this.close(true);
    else if (event.key === 'ArrowDown' && !typing) items[Math.min(items.length - 1, at + 1)]?.focus();
    else if (event.key === 'ArrowUp' && !typing) items[Math.max(0, at - 1)]?.focus();
    else if (event.key === 'Enter' && typing) this.typed(this.sizes());
    else return event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
  }
}

let lists = 0;
