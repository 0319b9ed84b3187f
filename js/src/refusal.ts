// A step that was refused: the reason, two instances that prove it, and what to do instead.

import { button, h } from './dom';
import { visible } from './room';
import type { State } from './state';
import type { Wrong } from './messages';

const GAP = 8; // pixels around the bar
const WIDEST = 720;
const [LEAST_WIDE, LEAST_HIGH] = [200, 90]; // pixels of a place in which it can be read
const PICTURES = ['domain', 'model', 'trials', 'lanes', 'cache', 'roofline', 'warps', 'footprint'];

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

/** Where a bar over the whole width goes: the top of what is seen, or its bottom where the mouse is above. */
export function placed(seen: { top: number; bottom: number }, height: number, mouse: number | null): number {
  const below = mouse !== null && mouse < (seen.top + seen.bottom) / 2;
  return below ? Math.max(seen.top + GAP, seen.bottom - height - GAP) : seen.top + GAP;
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
  }

  /** Over a pane that is no picture and not under the mouse, so that the red arrows are seen; nothing else moves. */
  private place(): void {
    const root = this.element.parentElement;
    if (!root) return;
    const own = root.getBoundingClientRect();
    const seen = visible(root);
    seen.top = Math.max(seen.top, root.querySelector('.head')?.getBoundingClientRect().bottom ?? 0); // undo stays in reach
    const box = roomiest(panesIn(root, seen), this.mouse);
    const { style } = this.element;
    if (box) {
      const width = Math.min(WIDEST, wide(box) - 2 * GAP);
      [style.left, style.right, style.width] = [`${Math.round(box.left - own.left + GAP)}px`, 'auto', `${Math.round(width)}px`];
      style.maxHeight = `${Math.round(high(box) - 2 * GAP)}px`;
      style.top = `${Math.round(box.top - own.top + GAP)}px`;
    } else {
      [style.left, style.right, style.width, style.maxHeight] = ['', '', '', ''];
      style.top = `${Math.round(placed(seen, this.element.offsetHeight, this.mouse?.[1] ?? null) - own.top)}px`;
    }
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
    const verb = wrong.reason === 'race' ? 'would run at once' : 'would run in the wrong order';
    return h(
      'div',
      { class: 'wrong' },
      end(wrong.source, wrong.words[0], pair?.[0]),
      ' → ',
      end(wrong.target, wrong.words[1], pair?.[1]),
      h('span', { class: 'soft' }, ` ${verb}: ${kinds.join(' and ')} of ${wrong.array}${wrong.loop ? `, loop ${wrong.loop}` : ''}`),
    );
  }
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

/** What is seen of the panes that show no picture. */
function panesIn(root: HTMLElement, seen: { top: number; bottom: number }): Box[] {
  const slots = [...root.querySelectorAll<HTMLElement>('.slot')].filter((e) => !PICTURES.includes(e.dataset.slot ?? ''));
  return slots.map((slot) => {
    const { left, top, right, bottom } = slot.getBoundingClientRect();
    return { left, right, top: Math.max(top, seen.top), bottom: Math.min(bottom, seen.bottom) };
  });
}
