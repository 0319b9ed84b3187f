// What one instance touches, below the panes.

import { button, h } from '../tools/dom';
import { glyph, role } from '../tools/palette';
import { cellName } from '../state/lighting';
import type { State } from '../state/state';

/** What one instance touches, as chips that light every other instance touching the same cell. */
export class CellsPane {
  readonly element = h('div', { class: 'cells' });

  constructor(private readonly state: State) {}

  light(): void {
    const { data, selection, hovered } = this.state;
    const now = hovered ?? selection;
    const number = now.statement && now.instance ? data.statement(now.statement) : -1;
    const row = number >= 0 ? data.find(number, now.instance!) : -1;
    if (row < 0) {
      if (now.array && now.cell) this.element.replaceChildren(h('span', {}, `what touches ${cellName(now.array, now.cell)}`));
      else this.element.replaceChildren(h('span', { class: 'soft' }, 'point at something: what belongs to it lights up everywhere'));
      return;
    }
    const own = data.domain.statements[number];
    const chips = own.accesses.map((access) => {
      const cell = access.cells && data.row(access.cells, row);
      const name = cell ? cellName(access.array, cell) : `${access.array}(…)`;
      return button(name, () => cell && this.state.select({ array: access.array, cell }), {
        class: `cell ${access.kind}`,
        'data-cell': name,
        title: cell ? `light everything that touches ${name}` : 'data decide which cell',
      });
    });
    const part = (kind: string, verb: string) => {
      const mine = chips.filter((_, i) => own.accesses[i].kind === kind);
      return mine.length ? [h('span', { class: 'soft' }, verb), ...mine] : [];
    };
    const names = (kind: string) =>
      chips
        .filter((_, i) => own.accesses[i].kind === kind)
        .map((chip) => chip.textContent)
        .join(', ');
    if (!hovered) this.tell(`${data.named(number, row)}: writes ${names('write')}, reads ${names('read') || 'nothing'}`);
    this.element.replaceChildren(
      h('b', { class: role(own.number) }, `${glyph(own.number)} ${data.named(number, row)}`),
      ...part('write', 'writes'),
      ...part('read', 'reads'),
      h('span', { class: 'soft' }, `place ${data.at(own.when, row, 0) + 1} in the order`),
    );
  }

  /** What was selected is said once, for who cannot see it; what the mouse passes over is not. */
  private tell(words: string): void {
    if (words !== this.told) this.state.say(words);
    this.told = words;
  }
  private told = '';
}
