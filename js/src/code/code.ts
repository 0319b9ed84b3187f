// The generated code, in as many languages side by side as one wants, and what a step would change in it.

import { Changes } from './changes';
import { ColoursBar } from '../state/kept_colours';
import { LANGUAGES, choices, compiled, doubled, toggled } from './columns';
import { keyOf } from '../state/lazy_views';
import { button, h } from '../tools/dom';
import { Listing } from './listing';
import type { Chosen, Code } from '../state/messages';
import type { State } from '../state/state';

export class CodePane {
  readonly element = h('section', { class: 'pane code', 'aria-label': 'Generated code' });
  private readonly listings = new Map<string, Listing>();
  private mapping = false; // the mapping to a GPU is looked for
  private pinned = false; // what is pinned against what is shown
  private readonly changes: Changes;
  private readonly colours: ColoursBar;
  private stands: unknown[] = []; // what was drawn: nothing is done where it still is so

  constructor(private readonly state: State) {
    this.changes = new Changes(state, () => this.draw());
    this.colours = new ColoursBar(
      state.colours,
      () => state.colour(state.selection),
      (kept) => state.uncolour(kept),
    );
  }

  draw(): void {
    const { compared, pinned } = this.state;
    const { chosen } = this;
    const { arrangement } = this.state;
    const plain = !compared && !this.against;
    const texts = chosen.map((one) => this.state.lazy.written(one));
    const now = [
      pinned,
      this.mapping,
      this.state.lazy.tools,
      arrangement.plain,
      arrangement.long,
      arrangement.talk,
      ...chosen.map(keyOf),
      ...texts,
    ];
    if (plain && now.length === this.stands.length && now.every((value, i) => value === this.stands[i])) return;
    this.stands = plain ? now : [];
    this.changes.close();
    this.element.classList.toggle('wide', chosen.length > 1 || ((compared !== null || this.against) && this.changes.beside));
    if (compared) return this.element.replaceChildren(...this.changes.ofStep(compared));
    if (this.pinned && pinned) return this.element.replaceChildren(...this.changes.ofPinned(pinned, () => this.unpinned()));
    const coloured = !arrangement.plain && chosen.some(({ language }) => language !== 'C' && language !== 'CUDA');
    const known = new Set(chosen.map((one, nth) => `${nth} ${keyOf(one)}`));
    for (const [key, listing] of this.listings) {
      if (known.has(key)) continue;
      listing.close();
      this.listings.delete(key);
    }
    const columns = chosen.map((one, nth) => this.column(one, nth, texts[nth], coloured));
    this.element.replaceChildren(this.languages(), h('div', { class: 'columns' }, ...columns));
    this.state.spread();
  }

  /** What stands side by side: chosen by somebody, or the usual text. */
  private get chosen(): Chosen[] {
    const { texts } = this.state.arrangement;
    return texts?.length ? texts : [{ language: this.usual }];
  }

  private choose(texts: Chosen[]): void {
    this.state.arrange({ texts });
    this.draw();
    this.light();
  }

  /** Colours and wrapping of the lines, for all columns. */
  private looks(): HTMLElement {
    const { plain, long } = this.state.arrangement;
    const made = this.chosen.some(({ language }) => language !== 'C' && language !== 'CUDA');
    const change = (to: { plain?: boolean; long?: boolean }) => {
      this.state.arrange(to);
      this.draw();
      this.light();
    };
    return h(
      'span',
      { class: 'pair looks' },
      button('wrap', () => change({ long: !long }), { class: 'look wrap', 'aria-pressed': String(!long), title: 'long lines go on below' }),
      made
        ? button('lines in colour', () => change({ plain: !plain }), {
            class: 'look in-colour',
            'aria-pressed': String(!plain),
            title: 'a line and what was made from it in one colour',
          })
        : null,
    );
  }

  private languages(): HTMLElement {
    const { chosen } = this;
    const shown = (name: string) => chosen.some(({ language }) => language === name);
    return h(
      'div',
      { class: 'languages', role: 'group', 'aria-label': 'languages shown side by side' },
      ...LANGUAGES.map((name) =>
        button(name, () => this.toggle(name), {
          class: 'language',
          'aria-pressed': String(shown(name)),
          title: shown(name) ? `hide ${name}` : `show ${name} beside`,
        }),
      ),
      this.toGpu(),
      this.looks(),
      this.colours.element,
      this.state.pinned
        ? button(
            'against the pinned',
            () => {
              this.pinned = true;
              this.draw();
            },
            { class: 'language against', title: 'what is different from the pinned schedule' },
          )
        : null,
    );
  }

  private get against(): boolean {
    return this.pinned && this.state.pinned !== null;
  }

  private unpinned(): void {
    this.pinned = false;
    this.draw();
    this.light();
  }

  private toggle(name: string): void {
    this.choose(toggled(this.chosen, name));
    this.element.querySelectorAll<HTMLElement>('.language')[(LANGUAGES as readonly string[]).indexOf(name)]?.focus();
  }

  /** What is shown at first: what the study that is shown writes, of a schedule on a GPU CUDA, else C. */
  private get usual(): string {
    return this.state.model.get('study').language ?? (this.state.onGpu ? 'CUDA' : 'C');
  }

  /** One click from C to CUDA: the mapping that is used where nobody chose one, shown before it is taken. */
  private toGpu(): HTMLElement | null {
    if (this.state.onGpu) return null;
    const look = async () => {
      this.mapping = true;
      this.draw();
      await this.state.comparing.mapToGpu();
      this.mapping = false;
      this.draw();
      this.light();
    };
    return button(this.mapping ? 'looking for a mapping …' : 'map to a GPU', () => void look(), {
      class: 'language to-gpu',
      disabled: this.mapping,
      title: 'blocks, threads and shared memory as the default recipe for GPUs has them: shown as CUDA first, not taken yet',
    });
  }

  private column(chosen: Chosen, nth: number, code: Code | undefined, coloured: boolean): HTMLElement {
    const key = `${nth} ${keyOf(chosen)}`;
    const { language = 'C' } = chosen;
    const known = this.listings.get(key) ?? new Listing(this.state, language === 'C' && !chosen.target);
    this.listings.set(key, known);
    const change = (now: Chosen) => this.choose(this.chosen.map((one, i) => (i === nth ? now : one)));
    const more = h(
      'span',
      { class: 'pair' },
      button('+', () => this.choose(doubled(this.chosen, nth)), {
        class: 'double',
        'aria-label': `${language} once more beside`,
        title: `${language} once more beside, for another compiler, flags or machine`,
      }),
      this.chosen.length > 1
        ? button('✕', () => this.choose(this.chosen.filter((_, i) => i !== nth)), {
            class: 'without',
            'aria-label': `close this ${language}`,
          })
        : null,
    );
    const head = [choices(chosen, this.state.lazy.tools, change), more];
    if (!code)
      return h(
        'div',
        { class: 'column' },
        h('h3', {}, language, h('span', { class: 'space' }), more),
        h('p', { class: 'soft' }, 'asking for it …'),
      );
    known.above.classList.toggle('short', !compiled(chosen));
    known.draw(code, { coloured, wrapped: !this.state.arrangement.long, talk: this.state.arrangement.talk });
    known.above.replaceChildren(...head.filter((e) => e !== null));
    return known.element;
  }

  light(): void {
    const { line, statement } = this.state.selection;
    this.colours.draw(line !== undefined || statement !== undefined);
    if (!this.state.compared && !this.against) for (const listing of this.listings.values()) listing.light();
  }

  close(): void {
    this.changes.close();
    for (const listing of this.listings.values()) listing.close();
  }
}
