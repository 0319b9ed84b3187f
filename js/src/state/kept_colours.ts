// What keeps a colour, whatever is pointed at: up to six loops and statements, in every text and in the tree.

import { button, h } from '../tools/dom';
import type { Code, Line, Selection, TreeNode } from './messages';

const MOST = 6;

export interface Kept {
  loop?: string;
  statement: string;
  colour: number;
}

export class Colours {
  kept: Kept[] = [];

  /** Give what is selected a colour, or take it away; what is to be said of that. */
  toggle(selection: Selection, code: Code): string {
    const wanted = meant(selection, code);
    if (!wanted) return 'select a line of one loop or one statement: that keeps a colour';
    const known = this.kept.find((k) => k.loop === wanted.loop && k.statement === wanted.statement);
    if (known) {
      this.kept = this.kept.filter((k) => k !== known);
      return `${named(known)} has no colour of its own any more`;
    }
    const free = [...Array(MOST).keys()].find((n) => this.kept.every((k) => k.colour !== n));
    if (free === undefined) return `${MOST} colours are taken: take one away first`;
    this.kept = [...this.kept, { ...wanted, colour: free }];
    return `${named(wanted)} keeps colour ${free + 1} in every text`;
  }

  /** A button for each, which takes its colour away. */
  chips(remove: (kept: Kept) => void): HTMLElement[] {
    return this.kept.map((kept) =>
      button(`⚑${kept.colour + 1} ${named(kept)} ✕`, () => remove(kept), {
        class: 'kept',
        style: `--kept: var(--wb-s${kept.colour})`,
        'aria-label': `take colour ${kept.colour + 1} from ${named(kept)}`,
      }),
    );
  }
}

const named = ({ loop, statement }: { loop?: string; statement: string }): string => (loop ? `for ${loop}` : statement);

function meant({ line, loop, statement }: Selection, code: Code): { loop?: string; statement: string } | null {
  const own = line === undefined ? undefined : code.lines[line - 1];
  if (own?.loop) return { loop: own.loop, statement: own.statements[0] };
  if (own) return own.statements.length === 1 ? { statement: own.statements[0] } : null;
  if (!statement) return null;
  return loop ? { loop, statement } : { statement };
}

export function keepsLine({ loop, statement }: Kept, line: Line): boolean {
  if (loop) return line.loop === loop && line.statements.includes(statement);
  return !line.loop && line.statements.length === 1 && line.statements[0] === statement;
}

export function keepsNode({ loop, statement }: Kept, node: TreeNode): boolean {
  return loop
    ? node.type === 'loop' && node.name === loop && node.statements.includes(statement)
    : node.type === 'statement' && node.name === statement;
}

/** What stands beside the languages: a button that gives a colour, and what has one. */
export class ColoursBar {
  private readonly chips = h('span', { class: 'chosen' });
  private readonly give: HTMLButtonElement;
  readonly element: HTMLElement;
  private drawn: Kept[] = [];

  constructor(
    private readonly colours: Colours,
    give: () => void,
    private readonly remove: (kept: Kept) => void,
  ) {
    this.give = button('⚑', give, {
      class: 'keep-colour',
      'aria-label': 'highlight',
      title: 'highlight: what is selected stays highlighted in every text and among the loops (c, or Shift and a click)',
    });
    this.element = h('span', { class: 'colours', role: 'group', 'aria-label': 'colours that stay' }, this.chips, this.give);
  }

  draw(possible: boolean): void {
    this.give.disabled = !possible;
    if (this.drawn === this.colours.kept) return;
    this.drawn = this.colours.kept;
    const held = this.chips.contains(document.activeElement);
    this.chips.replaceChildren(...this.colours.chips(this.remove));
    if (held) (this.chips.querySelector('button') ?? this.give).focus();
  }
}
