// What stands behind the points of the pictures: a sample of each mark, what it is, and of which statements.

import type { Data } from '../state/data';
import { h } from '../tools/dom';
import type { Plot } from './plot';
import type { Behind } from './regions';

const MARKS: [Behind, (of: string) => string, string][] = [
  ['block', (of) => `block${of}`, 'block of threads: its index is on the upper edge'],
  ['tile', (of) => `tile${of}`, 'tile: what the loops outside have one iteration of'],
  [
    'thread',
    (of) => `threads${of}, one hatched`,
    'threads in two shades by turns; that of the point which is lit is hatched, else one that stands for all',
  ],
  ['lane', () => 'vector', 'vector: what is executed at once'],
];

/** What may stand behind the points; what of it is drawn is known once the pictures are. */
export function legend({ domain: { statements } }: Data): HTMLElement | null {
  const any = (found: (kind: string) => boolean) => statements.some(({ kinds }) => kinds.some(found));
  const there: Record<Behind, boolean> = {
    block: any((kind) => kind.startsWith('block')),
    tile: statements.some(({ tiled }) => tiled > 0),
    thread: any((kind) => kind === 'parallel' || kind.startsWith('thread')),
    lane: any((kind) => kind === 'vector'),
  };
  const items = MARKS.filter(([name]) => there[name]).map(([name, words, title]) =>
    h('span', { 'data-behind': name, title }, h('i', { class: `behind ${name}` }), h('span', {}, words(''))),
  );
  return items.length ? h('span', { class: 'group kinds legend-behind' }, ...items) : null;
}

/** The legend names what is drawn, and nothing else. */
export function nameDrawn(around: HTMLElement, plots: Plot[], data: Data): void {
  const drawn = new Set(plots.flatMap(({ regions }) => regions.kinds));
  for (const [name, words] of MARKS) {
    const item = around.querySelector<HTMLElement>(`[data-behind=${name}]`);
    if (!item) continue;
    item.hidden = !drawn.has(name);
    item.lastElementChild!.textContent = words(whose(name, plots, data));
  }
}

/** Of which statements a mark is, where it is not of all that stand at the same places. */
function whose(kind: Behind, plots: Plot[], { domain: { statements } }: Data): string {
  const found = plots.map(({ regions, nest }) => ({ ...regions.of(kind), nest }));
  if (!found.some(({ alone }) => alone)) return '';
  const without = found.some(({ alone, statements: own, nest }) => alone && nest.statements.some((n) => !own.has(n)));
  const names = found.flatMap(({ statements: own }) => [...own].map((n) => statements[n].name));
  return without ? ` of ${names.join(', ')}` : ' of each statement';
}
