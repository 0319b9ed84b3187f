// A step that was refused: the reason, two instances that prove it, and what to do instead.

import { button, h } from './dom';
import type { State } from './state';
import type { Wrong } from './messages';

export class RefusalBar {
  readonly element = h('div', { class: 'refusal', role: 'alert' });

  constructor(private readonly state: State) {}

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
