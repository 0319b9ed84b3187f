// One text of the kernel: every line knows its statements and its loop, and lights up with them.

import { search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { Decoration, EditorView, keymap } from '@codemirror/view';
import { atHome, look } from './cm';
import { numberOf } from '../tools/quantities';
import { keepsLine } from '../state/kept_colours';
import { beginning, computing } from './columns';
import { active, decorations, marked, setActive } from './line_marks';
import type { Kept } from '../state/kept_colours';
import { button, download, h } from '../tools/dom';
import type { State } from '../state/state';
import { walk } from '../state/lighting';
import type { Code, Line, Selection, TreeNode } from '../state/messages';

const ENDINGS: Record<string, string> = { C: 'c', CUDA: 'cu', assembly: 's', PTX: 'ptx', SASS: 'sass' };
const MARGIN = 3; // pixels above what stands first
const LOOKS = 3; // at a text whose lines get their height when they are seen
const TOP = { left: 0, top: 0 };
/** How lines look: in the colours of what they were made from, and going on below where they are long. */
export interface Looks {
  coloured: boolean;
  wrapped: boolean;
  talk?: boolean; // only what computes
}

export class Listing {
  readonly element = h('div', { class: 'column' });
  private view: EditorView | null = null;
  private readonly unfolded = { talk: false, usual: false }; // a talk folds and scrolls by itself
  private readonly places = { talk: TOP, usual: TOP };
  private brought = ''; // the picture whose loops a talk was scrolled to
  private drawn: Code | null = null;
  private shown = '';
  private revealed = '{}'; // the selection that was last scrolled to

  constructor(
    private readonly state: State,
    private readonly main: boolean,
  ) {}

  draw(code: Code, looks: Looks = { coloured: false, wrapped: false }): void {
    const alike = looks.coloured === this.looks.coloured && looks.wrapped === this.looks.wrapped && looks.talk === this.looks.talk;
    if (code === this.drawn && alike && !this.whole) return this.scroll();
    if (code !== this.drawn || !looks.talk) this.brought = '';
    this.drawn = code;
    this.looks = looks;
    this.fill(code);
  }

  private get layout(): 'talk' | 'usual' {
    return this.looks.talk ? 'talk' : 'usual';
  }
  private get whole(): boolean {
    return this.unfolded[this.layout];
  }
  private looks: Looks = { coloured: false, wrapped: false };
  /** What may be chosen above the text; where that is short it stands in the heading. */
  readonly above = h('div', { class: 'above-column' });

  private fill(code: Code): void {
    this.close();
    const lines = this.lines(code);
    const [folded, what] = [code.lines.length - lines.length, this.looks.talk ? 'the loops' : 'the function'];
    const more =
      folded || this.whole
        ? button(
            this.whole ? `▾ only ${what}` : `▸ ${numberOf(folded, 'line')} ${this.looks.talk ? 'around' : 'before'} ${what}`,
            () => {
              this.unfolded[this.layout] = !this.whole;
              this.fill(code);
              this.light();
            },
            { class: 'fold' },
          )
        : null;
    const inHeading = this.above.classList.contains('short');
    const heading = h(
      'h3',
      {},
      code.language,
      inHeading ? this.above : null,
      h('span', { class: 'soft', title: code.notes.join(' · ') }, code.notes.join(' · ')),
      h('span', { class: 'space' }),
      more,
      code.reason ? null : this.saving(code),
    );
    const above = inHeading ? [heading] : [heading, this.above];
    if (code.reason) return this.element.replaceChildren(...above, h('p', { class: 'reason' }, code.reason), this.instead(code));
    this.view = new EditorView({ state: this.editor(lines, code.language) });
    this.shown = '';
    this.element.replaceChildren(...above, this.view.dom);
    const { scrollDOM } = this.view;
    scrollDOM.addEventListener('scroll', () => {
      if (scrollDOM.isConnected) this.places[this.layout] = { left: scrollDOM.scrollLeft, top: scrollDOM.scrollTop };
    });
    this.scroll();
  }

  private lines(code: Code): Line[] {
    if (this.whole) return code.lines;
    return this.looks.talk ? computing(code) : code.lines.slice(code.start);
  }

  /** Steps after which there might be a text. */
  private instead({ instead }: Code): HTMLElement {
    const steps = (instead ?? []).map(({ text, step }) => button(text, () => void this.state.apply(step, text), { class: 'repair' }));
    return h('p', { class: 'instead' }, steps.length ? 'bind a loop: ' : '', ...steps);
  }

  /** Another text of the same kernel: one reads on where one was. */
  private scroll(): void {
    const { view } = this;
    const place = this.places[this.layout];
    if (view && (place.left || place.top)) view.requestMeasure({ read: () => undefined, write: () => view.scrollDOM.scrollTo(place) });
  }

  /** In a talk the loops of what the picture shows stand first, unless somebody is at the text. */
  private bring(): void {
    const { view, drawn } = this;
    const { pictured } = this.state;
    if (!view || !drawn || !this.looks.talk || this.whole || this.brought === pictured.join()) return;
    this.brought = pictured.join();
    if (this.element.matches(':hover')) return;
    const { from } = view.state.doc.line(beginning(this.lines(drawn), pictured) + 1);
    const again = (left: number) =>
      view.requestMeasure({
        read: () => blockAt(view, from).top,
        write: (top) => {
          view.scrollDOM.scrollTo({ left: 0, top: Math.max(0, top - MARGIN) });
          if (left > 1) requestAnimationFrame(() => view === this.view && again(left - 1)); // its lines have their height only now
        },
      });
    again(LOOKS);
  }

  private saving(code: Code): HTMLElement {
    const name = `${this.state.model.get('title')}.${ENDINGS[code.language] ?? 'txt'}`;
    const text = code.lines.map((line) => line.runs.map(([part]) => part).join('')).join('\n');
    const save = () => {
      download(name, `${text}\n`, 'text/plain');
      this.state.say(`${name} is saved, ${numberOf(code.lines.length, 'line')}`);
    };
    return button('save', save, { class: 'save', title: `the whole text as ${name}` });
  }

  private editor(lines: Line[], language: string): EditorState {
    const doc = lines.map((line) => line.runs.map(([text]) => text).join('')).join('\n');
    const at = (event: Event) =>
      lines.find((l) => l.number === Number((event.target as Element).closest<HTMLElement>('.line')?.dataset.line));
    return EditorState.create({
      doc,
      extensions: [
        look,
        active,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        this.looks.wrapped ? EditorView.lineWrapping : [],
        search({ top: true }),
        keymap.of(searchKeymap),
        EditorView.decorations.of(decorations(lines, this.state.data.domain.statements, this.looks.coloured)),
        EditorView.contentAttributes.of({
          class: this.main ? 'listing' : 'listing other',
          tabindex: '0',
          'aria-label': `${language} of the kernel`,
          'aria-readonly': 'true',
        }),
        EditorView.domEventHandlers({
          mousemove: (event) => this.state.hover(this.selection(at(event))),
          mouseleave: () => this.state.hover(null),
          click: (event) => {
            const chosen = this.selection(at(event));
            if (chosen && event.shiftKey) this.state.colour(chosen);
            else if (chosen) this.state.select(chosen);
          },
          contextmenu: (event, view) => {
            const line = at(event);
            const loop = line?.loop && stepName(this.state.tree, line.loop, line.statements[0]);
            if (!line?.statements.length) return;
            this.state.openMenu(loop ? { loop } : { statement: line.statements[0] }, event, view.contentDOM);
          },
          keydown: (event) => this.keys(event, lines),
        }),
      ],
    });
  }

  /** What a line stands for: of C the line itself, of other texts its loop or its statement. */
  private selection(line: Line | undefined): Selection | null {
    if (!line?.statements.length) return null;
    if (this.main) return { line: line.number };
    if (line.loop) return { loop: line.loop, statement: line.statements[0] };
    return line.statements.length === 1 ? { statement: line.statements[0] } : null;
  }

  /** The keyboard's line: up and down go from line to line that belongs to something, Escape lets go. */
  private keys(event: KeyboardEvent, lines: Line[]): boolean {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') this.state.select({});
    if (event.key === 'c' && !event.ctrlKey && !event.metaKey) this.state.colour(this.state.selection);
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return false;
    const ours = lines.filter((line) => this.selection(line));
    const now = ours.indexOf(this.litLines(ours)[0]);
    const next = ours[now < 0 ? 0 : now + step];
    const chosen = this.selection(next);
    if (!chosen) return true;
    this.state.select(chosen);
    this.state.say(
      next.runs
        .map(([text]) => text)
        .join('')
        .trim(),
    );
    return true;
  }

  /** Which lines are lit: of C what the selection says, of other texts what was made from these or belongs to the same. */
  private litLines(lines: Line[]): Line[] {
    const { lit: now, litLoop } = this.state;
    if (this.main) return lines.filter((line) => now.lines.has(line.number));
    if (lines.some((line) => line.of)) return lines.filter((line) => now.lines.has(line.of ?? 0));
    const own = lines.filter((line) => line.statements.some((name) => now.statements.has(name)));
    const loop = litLoop ? own.filter((line) => line.loop === litLoop) : [];
    return loop.length ? loop : own;
  }

  /** Which lines keep a colour: of texts made from C, what was made from its lines that do. */
  private keptLines(lines: Line[], kept: Kept): Line[] {
    if (!lines.some((line) => line.of)) return lines.filter((line) => keepsLine(kept, line));
    const of = new Set(this.state.code.lines.filter((line) => keepsLine(kept, line)).map((line) => line.number));
    return lines.filter((line) => of.has(line.of ?? 0));
  }

  light(): void {
    if (!this.view || !this.drawn) return;
    const { view } = this;
    atHome(view);
    this.bring();
    const lines = this.lines(this.drawn);
    const chosen = new Set(this.litLines(lines));
    const colours = new Map(
      this.state.colours.kept.flatMap((kept) => this.keptLines(lines, kept).map((line) => [line, kept.colour] as const)),
    );
    const marks = marked(lines, chosen, colours, (nth) => view.state.doc.line(nth + 1).from);
    if (marks.key === this.shown) return;
    this.shown = marks.key;
    view.dispatch({ effects: setActive.of(Decoration.set(marks.ranges)) });
    const chosenNow = JSON.stringify(this.state.selection);
    if (marks.first !== undefined && !this.state.hovered && chosenNow !== this.revealed) this.reveal(marks.first);
    if (!this.state.hovered) this.revealed = chosenNow;
  }

  /** A line that was selected elsewhere is scrolled to, within the pane. */
  private reveal(at: number): void {
    const { scrollDOM } = this.view!;
    const { top, bottom } = blockAt(this.view!, at);
    if (top < scrollDOM.scrollTop || bottom > scrollDOM.scrollTop + scrollDOM.clientHeight)
      scrollDOM.scrollTop = Math.max(0, top - scrollDOM.clientHeight / 3);
  }

  close(): void {
    this.view?.destroy();
    this.view = null;
  }
}

/** Where a line stands in its text, in the pixels that the text is scrolled by: of one that is far away, about where. */
function blockAt(view: EditorView, at: number): { top: number; bottom: number } {
  const { scrollDOM } = view;
  const box = scrollDOM.getBoundingClientRect();
  const larger = box.height / scrollDOM.offsetHeight || 1; // in a talk
  const block = view.lineBlockAt(at);
  const seen = view.coordsAtPos(at);
  const top = seen ? scrollDOM.scrollTop + (seen.top - box.top) / larger : block.top / larger;
  return { top, bottom: top + block.height / larger };
}

/** What steps call a loop that a line begins. */
function stepName(tree: TreeNode[], loop: string, statement: string): string | undefined {
  const found = [...walk(tree)].filter((node) => node.type === 'loop' && node.name === loop);
  return (found.find((node) => node.statements.includes(statement)) ?? found[0])?.step;
}
