// How the lines of a text look: their numbers, the roles of their parts, whose they are, and which are lit or keep a colour.

import { Range, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import { h } from '../tools/dom';
import { role } from '../tools/palette';
import { tints } from './columns';
import type { Line, Statement } from '../state/messages';

/** Other lines are lit, or keep a colour. */
export const setActive = StateEffect.define<DecorationSet>();
export const active = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (now, transaction) => transaction.effects.reduce((found, e) => (e.is(setActive) ? e.value : found), now.map(transaction.changes)),
  provide: (field) => EditorView.decorations.from(field),
});
const lit = Decoration.line({ class: 'active' });
const KEPT = ['kept', 'kept first'].map((name) =>
  [0, 1, 2, 3, 4, 5].map((n) =>
    Decoration.line({ class: name, attributes: { 'data-kept': String(n + 1), style: `--kept: var(--wb-s${n})` } }),
  ),
);

class LineNumber extends WidgetType {
  constructor(readonly number: number) {
    super();
  }
  eq(other: LineNumber): boolean {
    return other.number === this.number;
  }
  toDOM(): HTMLElement {
    return h('span', { class: 'number', 'aria-hidden': 'true' }, this.number);
  }
  ignoreEvent(): boolean {
    return false;
  }
}

/** Colours of the runs, and what a line belongs to, as classes and attributes. */
export function decorations(lines: Line[], statements: Statement[], coloured: boolean): DecorationSet {
  const numbers = new Map(statements.map((s) => [s.name, s.number]));
  const found = new RangeSetBuilder<Decoration>();
  const source = lines.every((line) => line.of === undefined);
  const tint = coloured ? tints(lines, source) : new Map<number, number>();
  let at = 0;
  for (const line of lines) {
    const number = line.statements.length === 1 ? numbers.get(line.statements[0]) : undefined;
    const own = `line${number === undefined ? '' : ` ${role(number)}`}${line.statements.length ? ' ours' : ''}${tint.has(line.number) ? ` tint t${tint.get(line.number)}` : ''}`;
    found.add(at, at, Decoration.line({ class: own, attributes: { 'data-line': String(line.number) } }));
    found.add(at, at, Decoration.widget({ widget: new LineNumber(line.number), side: -1 }));
    let column = at;
    for (const [text, role, bold] of line.runs) {
      const name = `${role ? `r-${role}` : ''}${bold ? ' bold' : ''}`.trim();
      if (name && text.length) found.add(column, column + text.length, Decoration.mark({ class: name }));
      column += text.length;
    }
    at = column + 1;
  }
  return found.finish();
}

/** What is lit, and what keeps a colour, first where the colour begins; the key tells whether that has changed. */
export function marked(
  lines: Line[],
  chosen: Set<Line>,
  colours: Map<Line, number>,
  at: (nth: number) => number,
): { ranges: Range<Decoration>[]; key: string; first: number | undefined } {
  const ranges: Range<Decoration>[] = [];
  lines.forEach((line, i) => {
    const from = at(i);
    const colour = colours.get(line);
    if (chosen.has(line)) ranges.push(lit.range(from));
    if (colour !== undefined) ranges.push(KEPT[colours.get(lines[i - 1]) === colour ? 0 : 1][colour].range(from));
  });
  const key = ranges.map(({ from, value }) => `${from} ${said(value)}`).join();
  return { ranges, key, first: ranges.find((range) => range.value === lit)?.from };
}

/** How a decoration looks, to tell whether what is lit has changed. */
function said({ spec }: Decoration): string {
  const { class: name, attributes } = spec as { class?: string; attributes?: { style?: string } };
  return `${name} ${attributes?.style}`;
}
