// What a warp's 32 threads touch at once: sectors of global memory, banks of shared memory.

import { noun, numberOf } from '../tools/quantities';
import { h, s } from '../tools/dom';
import type { State } from '../state/state';
import type { Warps } from '../state/messages';

type One = Warps['accesses'][number];
const [SECTOR, BANKS, WIDE] = [32, 32, 12];

export class WarpsPane {
  readonly element = h('section', { class: 'pane warps', 'aria-label': 'Warps' });
  private chosen = -1; // the most wasteful one, until another is chosen

  constructor(private readonly state: State) {}

  draw(): void {
    const found = this.state.lazy.view('warps');
    const body = !found
      ? [h('p', { class: 'soft' }, 'counting …')]
      : 'reason' in found
        ? [h('p', { class: 'note' }, found.reason)]
        : this.accesses(found);
    this.element.replaceChildren(h('h3', {}, 'Warps: coalescing and bank conflicts'), ...body);
  }

  private accesses(found: Warps): HTMLElement[] {
    if (!found.accesses.length) return [h('p', { class: 'note' }, 'no access is known beforehand')];
    const wasteful = (a: One, b: One) => a.efficiency - b.efficiency || b.worst - a.worst;
    if (this.chosen < 0 || this.chosen >= found.accesses.length)
      this.chosen = found.accesses.indexOf([...found.accesses].sort(wasteful)[0]);
    const head = h(
      'tr',
      {},
      ...['access', 'memory', 'a warp’s access costs', 'worst', 'efficiency'].map((t) => h('th', { scope: 'col' }, t)),
    );
    const rows = found.accesses.map((a, i) => {
      const choose = () => {
        this.chosen = i;
        this.draw();
      };
      const name = h(
        'button',
        { type: 'button', class: 'access', 'aria-pressed': String(i === this.chosen), click: choose },
        `${a.kind === 'read' ? 'reads' : 'writes'} ${a.text}`,
      );
      return h(
        'tr',
        {
          class: i === this.chosen ? 'active' : '',
          mouseenter: () => this.state.hover({ statement: a.statement }),
          mouseleave: () => this.state.hover(null),
        },
        h('td', {}, name),
        h('td', {}, a.memory),
        h('td', { class: 'n' }, `${a.average.toFixed(2)} ${unit(a, a.average)}`),
        h('td', { class: `n${a.worst > best(a) ? ' bad' : ''}` }, a.worst),
        h(
          'td',
          { class: 'n' },
          h('span', { class: 'meter' }, h('i', { style: `width:${Math.round(a.efficiency * 100)}%` })),
          `${Math.round(a.efficiency * 100)} %`,
        ),
      );
    });
    const one = found.accesses[this.chosen];
    return [
      h('table', { class: 'levels' }, h('thead', {}, head), h('tbody', {}, ...rows)),
      one.memory === 'shared' ? this.banks(one) : this.sectors(one),
      h(
        'p',
        { class: 'note' },
        [
          found.note,
          `the costliest access of a warp: ${one.worst} ${unit(one, one.worst)}`,
          one.complete ? '' : 'some accesses were looked at',
        ]
          .filter(Boolean)
          .join(' · '),
      ),
    ];
  }

  /** The 32 threads above, the sectors that they touch below: a line for each. */
  private sectors(one: One): HTMLElement {
    const touched = [...new Set(one.lanes.filter((a): a is number => a !== null).map((a) => Math.floor(a / SECTOR)))].sort((a, b) => a - b);
    const room = Math.max(32 * 16, touched.length * 18);
    const at = (i: number, n: number) => ((i + 0.5) * room) / n;
    const threads = one.lanes.map((_, i) =>
      s(
        'g',
        {},
        s('rect', { class: 'thread-box', x: at(i, 32) - 6, y: 14, width: WIDE, height: WIDE }),
        s('text', { class: 'tick', x: at(i, 32), y: 11, 'text-anchor': 'middle' }, i % 4 ? '' : i),
      ),
    );
    const lines = one.lanes.flatMap((a, i) => {
      if (a === null) return [];
      const n = touched.indexOf(Math.floor(a / SECTOR));
      const inside = ((a % SECTOR) / SECTOR - 0.5) * Math.min(14, room / touched.length - 4);
      return [s('line', { class: 'lane-line', x1: at(i, 32), y1: 26, x2: at(n, touched.length) + inside, y2: 82 })];
    });
    const boxes = touched.map((n, i) =>
      s(
        'g',
        {},
        s(
          'rect',
          {
            class: 'sector-box',
            x: at(i, touched.length) - Math.min(8, room / touched.length / 2 - 1),
            y: 82,
            width: Math.min(16, room / touched.length - 2),
            height: 12,
          },
          s('title', {}, `bytes ${n * SECTOR} to ${n * SECTOR + SECTOR - 1}`),
        ),
      ),
    );
    const svg = s(
      'svg',
      {
        class: 'chart',
        width: room,
        height: 112,
        viewBox: `0 0 ${room} 112`,
        role: 'img',
        'aria-label': `${numberOf(touched.length, 'sector')} of 32 bytes`,
      },
      ...lines,
      ...threads,
      ...boxes,
      s(
        'text',
        { class: 'tick', x: 0, y: 108 },
        `${numberOf(touched.length, 'sector')} of ${SECTOR} bytes; ${Math.ceil((one.lanes.filter((a) => a !== null).length * one.bytes) / SECTOR)} would do if neighbours stood side by side`,
      ),
    );
    return h('div', { class: 'warp' }, svg);
  }

  /** The 32 banks, and in each the threads that want different words of it, one above the other. */
  private banks(one: One): HTMLElement {
    const words = Array.from({ length: BANKS }, () => new Map<number, number[]>());
    one.lanes.forEach((a, i) => {
      if (a === null) return;
      const word = Math.floor(a / 4);
      const own = words[word % BANKS];
      own.set(word, [...(own.get(word) ?? []), i]);
    });
    const most = Math.max(1, ...words.map((w) => w.size));
    const shown = Math.min(most, 16);
    const high = shown * 14 + 40;
    const marks = words.flatMap((own, bank) => [
      s('text', { class: 'tick', x: bank * 17 + 8, y: high - 22, 'text-anchor': 'middle' }, bank % 4 ? '' : bank),
      ...(own.size ? [] : [s('rect', { class: 'bank-box idle', x: bank * 17 + 1, y: high - 48, width: 14, height: 12 })]),
      ...[...own.entries()]
        .slice(0, shown)
        .map(([word, threads], i) =>
          s(
            'g',
            {},
            s(
              'rect',
              { class: `bank-box${i ? ' bad' : ''}`, x: bank * 17 + 1, y: high - 48 - i * 14, width: 14, height: 12 },
              s('title', {}, `bank ${bank}, word ${word}: threads ${threads.join(', ')}`),
            ),
          ),
        ),
    ]);
    const svg = s(
      'svg',
      { class: 'chart', width: BANKS * 17, height: high, viewBox: `0 0 ${BANKS * 17} ${high}`, role: 'img', 'aria-label': `${most} turns` },
      ...marks,
      s(
        'text',
        { class: 'tick', x: 0, y: high - 6 },
        most === 1
          ? 'every bank gives one word: no conflict'
          : `up to ${most} different words from one bank: ${most} turns${most > shown ? ` (${shown} drawn)` : ''}`,
      ),
    );
    return h('div', { class: 'warp' }, svg);
  }
}

const unit = (a: One, count: number): string => noun(count, a.memory === 'shared' ? 'turn' : 'sector');
const best = (a: One): number => (a.memory === 'shared' ? Math.max(1, a.bytes / 4) : Math.max(1, (32 * a.bytes) / SECTOR));
