// Dependences between visible points, and the pairs that a refused step would put into the wrong order.

import { h } from '../tools/dom';
import { DEPENDENCES, madeOf } from '../tools/glossary';
import type { Frame } from './frame';
import { gcd } from '../tools/geometry';
import type { XY } from '../tools/geometry';
import type { Kind, Wrong } from '../state/messages';
import type { Mark } from './scene';
import type { State } from '../state/state';

const MOST = 1500;
const FEW = 6; // arrays whose switches stand in the open
const KINDS = ['flow', 'anti', 'output', 'reduction'];

/** Which arrows are drawn: a switch for each kind, and for each array where there are several. */
export function toggles(state: State, draw: () => void): HTMLElement[] {
  const { arrows } = state.data.domain;
  const made = (set: Set<string>, hides: boolean, name: string, content: (HTMLElement | string)[], more: Record<string, string>) =>
    h(
      'label',
      more,
      h('input', {
        type: 'checkbox',
        checked: set.has(name) !== hides,
        change: (event: Event) => {
          if ((event.target as HTMLInputElement).checked !== hides) set.add(name);
          else set.delete(name);
          draw();
        },
      }),
      ...content,
    );
  const kinds = KINDS.filter((kind) => arrows.some((a) => a.kind === kind));
  const arrays = [...new Set(arrows.map((a) => a.array))];
  const through = arrays.map((name) =>
    made(state.hiddenArrays, true, name, [h('code', {}, name)], {
      class: 'of-array',
      'data-array': name,
      title: [`dependences of ${name}`, madeOf(name, arrays)].filter(Boolean).join(': '),
    }),
  );
  return [
    ...kinds.map((kind) =>
      made(state.shownKinds, false, kind, [h('i', { class: `sample ${kind}`, 'aria-hidden': 'true' }), kind], {
        class: `kind ${kind}`,
        title: DEPENDENCES[kind],
      }),
    ),
    ...(arrays.length > FEW
      ? [
          h(
            'details',
            { class: 'through', title: 'dependences are drawn of the arrays that are chosen', open: state.hiddenArrays.size > 0 },
            h('summary', {}, `${arrays.length} arrays`),
            ...through,
          ),
        ]
      : arrays.length > 1
        ? [
            h(
              'span',
              { class: 'group arrays', role: 'group', 'aria-label': 'arrays whose dependences are drawn' },
              h('span', { class: 'soft', title: 'dependences are drawn of the arrays that are chosen' }, 'arrays:'),
              ...through,
            ),
          ]
        : []),
  ];
}

export interface Arrow {
  kind: Kind | 'bad';
  source: Mark;
  target: Mark;
  from: XY;
  to: XY;
  bend: number;
}

/** The dependences between shown instances, of the chosen kinds and arrays. */
export function arrowsOf(frame: Frame, { shownKinds, hiddenArrays }: Pick<State, 'shownKinds' | 'hiddenArrays'>): Arrow[] {
  const { data } = frame;
  const seen = new Set<string>();
  const found: Arrow[] = [];
  for (const { kind, array, source, target, pairs } of data.domain.arrows) {
    if (!shownKinds.has(kind) || hiddenArrays.has(array)) continue;
    const [sources, targets] = [frame.scene.byRow[source], frame.scene.byRow[target]];
    for (let i = 0; i < pairs[1] && found.length < MOST; i += 1) {
      const [a, b] = [sources.get(data.at(pairs, i, 0)), targets.get(data.at(pairs, i, 1))];
      if (!a || !b || a === b) continue;
      const key = `${kind} ${a.statement} ${a.x},${a.y} ${b.statement} ${b.x},${b.y}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const nth = countBetween(seen, key, kind);
      found.push(arrow(frame, kind, a, b, nth));
    }
  }
  return found;
}

/** How many arrows of other kinds connect the same two points already. */
function countBetween(seen: Set<string>, key: string, kind: string): number {
  const rest = key.slice(kind.length);
  return KINDS.filter((k) => k !== kind && seen.has(k + rest)).length;
}

/** The pairs in the wrong order whose instances are shown, of each dependence so many; two between the same points once. */
export function redOf(frame: Frame, pairs: Wrong[], most = Infinity): Arrow[] {
  const { data } = frame;
  const found: Arrow[] = [];
  for (const wrong of pairs) {
    let left = most;
    const [source, target] = [data.statement(wrong.source), data.statement(wrong.target)];
    if (source < 0 || target < 0) continue;
    for (const [p, q] of wrong.pairs) {
      const a = frame.scene.byRow[source].get(data.find(source, p));
      const b = frame.scene.byRow[target].get(data.find(target, q));
      if (!a || !b || a === b) continue;
      if ((left -= 1) < 0) break;
      if (!found.some(({ source: s, target: t }) => s === a && t === b)) found.push(arrow(frame, 'bad', a, b, 0));
    }
  }
  return found;
}

function arrow(frame: Frame, kind: Kind | 'bad', source: Mark, target: Mark, nth: number): Arrow {
  const [from, to] = [frame.place(source), frame.place(target)];
  const over = source.shift.join() === target.shift.join() && gcd(target.x - source.x, target.y - source.y) > 1;
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const bend = (over ? Math.min(length * 0.3, frame.unit * 1.2) : 0) + nth * Math.max(8, 0.16 * length) * (nth % 2 ? 1 : -1);
  return { kind, source, target, from, to, bend };
}
