// A step that was refused: the reason, two instances that prove it, and what to do instead.

import { button, h } from '../tools/dom';
import { visible } from '../layout/room';
import type { State } from '../state/state';
import type { Wrong } from '../state/messages';

const GAP = 8; // pixels around the bar
const WIDEST = 720;
const [LEAST_WIDE, LEAST_HIGH] = [200, 90]; // pixels of a place in which it can be read
const STEP = 6; // pixels between places that are tried where no pane has room
// Panes whose lower part is text: what stands above it there are tools.
const TEXTS = ['code', 'operator', 'steps', 'history'];
const TOOLS = '.slot-head, .languages, h3, .start, .steps > input, .last-step';
// What a bar over everything may not cover: points, loops, tools.
const KEPT = 'svg.plot, .tree .row, .head, .tools, .nest-choices, .controls, .replay, .chips, .languages, h3, .slot-head, .start';

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const wide = (box: Box): number => box.right - box.left;
const high = (box: Box): number => box.bottom - box.top;

/** What is left of a place beside the mouse: all of it, or the larger part above or below. */
function beside(box: Box, [x, y]: [number, number]): Box {
  if (x < box.left || x > box.right || y < box.top || y > box.bottom) return box;
  return y - box.top > box.bottom - y ? { ...box, bottom: y - 2 * GAP } : { ...box, top: y + 2 * GAP };
}

/** The largest of some places that covers nothing under the mouse; none where each is too small to be read in. */
export function roomiest(places: Box[], mouse: [number, number] | null): Box | null {
  const free = places.map((box) => (mouse ? beside(box, mouse) : box)).filter((box) => wide(box) >= LEAST_WIDE && high(box) >= LEAST_HIGH);
  const area = (box: Box) => Math.min(WIDEST, wide(box)) * high(box);
  return free.reduce<Box | null>((best, box) => (best && area(best) >= area(box) ? best : box), null);
}

/** Where a bar over the whole width goes that has no place of its own: where it covers least of what must be seen. */
export function leastCovering(seen: Box, height: number, kept: Box[], mouse: [number, number] | null): number {
  const last = Math.max(seen.top + GAP, seen.bottom - height - GAP);
  const covered = (top: number): number => {
    const bar = { left: seen.left, right: seen.right, top, bottom: top + height };
    const hidden = kept.reduce((sum, box) => sum + overlap(bar, box), 0);
    return hidden + (mouse && mouse[1] > top - GAP && mouse[1] < top + height + GAP ? wide(seen) * high(seen) : 0);
  };
  let best = last;
  for (let top = last; top >= seen.top + GAP; top -= STEP) if (covered(top) < covered(best)) best = top;
  return best;
}

/** Square pixels that two boxes share. */
function overlap(a: Box, b: Box): number {
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return across > 0 && down > 0 ? across * down : 0;
}

export class RefusalBar {
  readonly element = h('div', { class: 'refusal banner', role: 'alert' });
  private mouse: [x: number, y: number] | null = null;

  constructor(private readonly state: State) {}

  /** Where the mouse was last, from the corner of the window. */
  watch(root: HTMLElement): void {
    const seen = (event: PointerEvent) => (this.mouse = [event.clientX, event.clientY]);
    root.addEventListener('pointermove', seen, { passive: true });
    root.addEventListener('pointerdown', seen, { passive: true });
    window.addEventListener('scroll', this.again, { capture: true, passive: true });
    window.addEventListener('resize', this.again);
  }

  /** Over text that is not under the mouse, so that points, loops and tools are seen; nothing else moves. */
  private place(): void {
    const root = this.element.parentElement;
    if (!root) return;
    const own = root.getBoundingClientRect();
    const seen = { ...visible(root), left: own.left, right: own.right };
    seen.top = Math.max(seen.top, root.querySelector('.head')?.getBoundingClientRect().bottom ?? 0); // undo stays in reach
    const box = roomiest(textsIn(root, seen), this.mouse);
    const { style } = this.element;
    if (box) {
      const width = Math.min(WIDEST, wide(box) - 2 * GAP);
      [style.left, style.right, style.width] = [`${Math.round(box.left - own.left + GAP)}px`, 'auto', `${Math.round(width)}px`];
      style.maxHeight = `${Math.round(high(box) - 2 * GAP)}px`;
      style.top = `${Math.round(box.top - own.top + GAP)}px`;
    } else {
      [style.left, style.right, style.width, style.maxHeight] = ['', '', '', ''];
      const kept = [...root.querySelectorAll(KEPT)].map((e) => e.getBoundingClientRect());
      style.top = `${Math.round(leastCovering(seen, this.element.offsetHeight, kept, this.mouse) - own.top)}px`;
    }
    this.settled = box !== null;
  }
  private settled = true;

  /** What is scrolled to or given another size may have a better place than there was. */
  private readonly again = (): void => {
    const root = this.element.parentElement;
    if (!root || this.element.hidden || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const [bar, seen] = [this.element.getBoundingClientRect(), visible(root)];
      if (!this.settled || bar.top < seen.top || bar.bottom > seen.bottom) this.place();
    });
  };
  private waiting = false;

  close(): void {
    window.removeEventListener('scroll', this.again, true);
    window.removeEventListener('resize', this.again);
  }

  draw(): void {
    const { step, reason, repairs, pairs, without } = this.state.refusal;
    this.element.hidden = !step;
    if (!step) return this.element.replaceChildren();
    const why = pairs?.length ? '' : (reason ?? '').replace(`${step}: `, '');
    this.element.replaceChildren(
      h(
        'div',
        { class: 'what' },
        h('b', {}, '✕ not applied: '),
        h('code', {}, step),
        ` ${why}`,
        button('close', () => void this.state.ask('dismiss', {}), { class: 'close' }),
      ),
      ...together(pairs ?? [])
        .slice(0, 4)
        .map(([wrong, kinds]) => this.witness(wrong, kinds)),
      repairs?.length
        ? h(
            'div',
            { class: 'repairs' },
            'instead: ',
            ...repairs.map((r) => button(r.text, () => void this.state.apply(r.step, r.text), { class: 'repair' })),
          )
        : without
          ? h('div', { class: 'repairs soft' }, `instead: ${without}`)
          : '',
    );
    this.place();
  }

  private witness(wrong: Wrong, kinds: string[]): HTMLElement {
    const pair = wrong.pairs[0];
    const end = (name: string, text: string, at: number[] | undefined) =>
      button(text, () => at && this.state.select({ statement: name, instance: at }), {
        class: 'witness',
        mouseenter: () => at && this.state.hover({ statement: name, instance: at }),
        mouseleave: () => this.state.hover(null),
      });
    return h(
      'div',
      { class: 'wrong' },
      end(wrong.source, wrong.words[0], pair?.[0]),
      ' → ',
      end(wrong.target, wrong.words[1], pair?.[1]),
      h('span', { class: 'soft' }, ` ${clash(wrong, kinds)}`),
    );
  }
}

/** What goes wrong between two instances; where data decide whether they touch one cell at all, that it may. */
export function clash({ reason, array, loop, data }: Pick<Wrong, 'reason' | 'array' | 'loop' | 'data'>, kinds: string[]): string {
  const how = reason === 'race' ? 'at once' : 'in the wrong order';
  const what = `${kinds.join(' and ')} of ${array}${loop ? `, loop ${loop}` : ''}`;
  return data ? `may depend on one another and would run ${how}: ${what}${data}` : `would run ${how}: ${what}`;
}

/** The same two instances once, with every kind of dependence between them. */
function together(pairs: Wrong[]): [Wrong, string[]][] {
  const found = new Map<string, [Wrong, string[]]>();
  for (const wrong of pairs) {
    const key = [...wrong.words, wrong.array, wrong.reason, wrong.loop].join(' ');
    const known = found.get(key);
    if (known) known[1].push(wrong.kind);
    else found.set(key, [wrong, [wrong.kind]]);
  }
  return [...found.values()];
}

/** What is seen of the texts below their tools. */
function textsIn(root: HTMLElement, seen: { top: number; bottom: number }): Box[] {
  const slots = [...root.querySelectorAll<HTMLElement>('.slot')].filter((e) => TEXTS.includes(e.dataset.slot ?? ''));
  return slots.map((slot) => {
    const { left, top, right, bottom } = slot.getBoundingClientRect();
    const tools = [...slot.querySelectorAll(TOOLS)].map((e) => e.getBoundingClientRect().bottom);
    return { left, right, top: Math.max(top, seen.top, ...tools), bottom: Math.min(bottom, seen.bottom) };
  });
}
