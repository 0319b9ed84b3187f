// A step that was refused: the reason, two instances that prove it, and what to do instead.

import { button, h } from './dom';
import { visible } from './room';
import type { State } from './state';
import type { Wrong } from './messages';

const GAP = 8; // pixels around the bar

/** Where a bar goes so that it covers nothing under the mouse: the top of what is seen, or its bottom. */
export function placed(seen: { top: number; bottom: number }, high: number, mouse: number | null): number {
  const below = mouse !== null && mouse < (seen.top + seen.bottom) / 2;
  return below ? Math.max(seen.top + GAP, seen.bottom - high - GAP) : seen.top + GAP;
}

export class RefusalBar {
  readonly element = h('div', { class: 'refusal banner', role: 'alert' });
  private mouse: number | null = null;

  constructor(private readonly state: State) {}

  /** Where the mouse was last, from the top of the window. */
  watch(root: HTMLElement): void {
    root.addEventListener('pointermove', (event) => (this.mouse = event.clientY), { passive: true });
    root.addEventListener('pointerdown', (event) => (this.mouse = event.clientY), { passive: true });
  }

  /** Over the panes, in what is seen of them: nothing else moves. */
  private place(): void {
    const root = this.element.parentElement;
    if (!root) return;
    const { top } = root.getBoundingClientRect();
    const [height, seen] = [this.element.offsetHeight, visible(root)];
    seen.top = Math.max(seen.top, root.querySelector('.head')?.getBoundingClientRect().bottom ?? 0); // undo stays in reach
    this.element.style.top = `${Math.round(placed(seen, height, this.mouse) - top)}px`;
  }

  draw(): void {
    const { step, reason, repairs, pairs } = this.state.refusal;
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
