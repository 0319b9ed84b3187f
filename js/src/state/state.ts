// What the panes share: the model, its data, what is lit, and the ways to change them.

import { Colours } from './kept_colours';
import type { Kept } from './kept_colours';
import { numberOf } from '../tools/counts';
import { Data } from './data';
import { tell } from '../tools/hints';
import { Wire, ask } from './kernel';
import type { Given, Model, Question, Result } from './kernel';
import { lit } from './lighting';
import type { Lit } from './lighting';
import { moments } from './moments';
import type { Moments } from './moments';
import { keyOf, usual } from '../code/columns';
import type {
  Arrangement,
  Chosen,
  Code,
  Machine,
  LoopTraffic,
  MeasuredData,
  Offers,
  Past,
  Preview,
  Refusal,
  Selection,
  Source,
  Step,
  Tools,
  TreeNode,
  Views,
} from './messages';

export const GONE = 'kernel gone: this is what it showed last; run the cell again';
const PART = 0.05; // seconds of looking for next steps at a time

export type Mode = 'select' | 'tile' | 'skew';
/** What a menu is of: a loop, as steps name it, or a statement. */
export type MenuOf = { loop: string } | { statement: string };
export type Language = 'C' | 'CUDA' | 'assembly' | 'PTX' | 'SASS';

/** A step that is looked at before it is taken: code, domain and loops after it. */
export interface Compared {
  text: string;
  take: () => Promise<void>;
  language: 'C' | 'CUDA';
  after: string[];
  verdict: string;
  data: Data;
  tree: TreeNode[];
}

/** A schedule that others are compared with, in every pane that counts. */
export interface Pinned {
  name: string;
  place: number;
  code: string;
  nodes: LoopTraffic[];
  touches: number[];
  moments: number;
}

export class State {
  readonly model: Wire;
  data: Data;
  hovered: Selection | null = null;
  mode: Mode = 'tile';
  time: number | null = null; // so many instances (or moments) have run; null: all of them
  together = false; // time counts moments in which threads and lanes run at once
  shownKinds = new Set(['flow', 'anti', 'output', 'reduction']);
  hiddenArrays = new Set<string>(); // whose dependences are not drawn
  compared: Compared | null = null;
  readonly colours = new Colours();
  machine: Machine;
  pinned: Pinned | null = null;
  pointed = ''; // the nest that the mouse was last over
  pictured: string[] = []; // the statements of the pictures that are drawn
  worked = ''; // the statement of the last step that was made by hand
  private compare: () => void = () => undefined;
  private asked = new Set<string>();
  private lighting: (() => void)[] = [];
  private said: (text: string) => void = () => undefined;
  private busy: (now: boolean) => void = () => undefined;
  private waiting = 0;

  constructor(model: Model) {
    this.model = new Wire(model);
    this.data = this.read();
    this.machine = model.get('machine');
  }

  read(): Data {
    return new Data(this.model.get('domain'), this.model.get('tables'));
  }

  /** Whether loops are bound to what only a GPU has. */
  get onGpu(): boolean {
    return bound(this.model.get('tree'));
  }
  get tree(): TreeNode[] {
    return this.compared?.tree ?? this.model.get('tree');
  }
  get source(): Source {
    return this.model.get('source');
  }
  get code(): Code {
    return this.model.get('code');
  }
  get past(): Past {
    return this.model.get('past');
  }
  get offers(): Offers {
    return this.model.get('offers');
  }
  get refusal(): Refusal {
    return this.model.get('refusal');
  }
  get measured(): Partial<MeasuredData> {
    return this.model.get('measured');
  }
  get selection(): Selection {
    return this.model.get('selection');
  }

  /** When an instance runs: its place in the order of one thread, or the moment of all threads. */
  when(statement: number, row: number): number {
    if (!this.together) return this.data.at(this.data.domain.statements[statement].when, row, 0);
    if (this.timed !== this.data) {
      this.timed = this.data;
      this.found = moments(this.data);
    }
    return this.found!.clock[statement][row];
  }
  private timed: Data | null = null;
  private found: Moments | null = null;

  /** What belongs to the selection; worked out once for all panes. */
  get lit(): Lit {
    const of = [this.hovered ?? this.selection, this.data, this.tree, this.code] as const;
    if (!this.known || of.some((value, i) => value !== this.known!.of[i])) this.known = { of, lit: lit(...of) };
    return this.known.lit;
  }
  private known: { of: readonly unknown[]; lit: Lit } | null = null;

  /** The loop that is lit, by itself or because its line is. */
  get litLoop(): string {
    const { loop, line } = this.hovered ?? this.selection;
    return loop ?? (line === undefined ? '' : (this.code.lines[line - 1]?.loop ?? ''));
  }

  onLight(callback: () => void): void {
    this.lighting.push(callback);
  }

  light(): void {
    for (const callback of this.lighting) callback();
  }

  hover(selection: Selection | null): void {
    if (same(selection, this.hovered)) return;
    this.hovered = selection;
    this.light();
  }

  select(selection: Selection): void {
    this.hovered = null;
    this.model.set('selection', same(selection, this.selection) ? {} : selection);
    this.model.save_changes();
    this.light();
  }

  /** What is given keeps a colour from now on, or no longer. */
  colour(selection: Selection): void {
    this.say(this.colours.toggle(selection, this.code));
    this.light();
  }

  uncolour({ loop, statement }: Kept): void {
    this.colour(loop ? { loop, statement } : { statement });
  }

  /** What screen readers hear, and everybody reads below the panes. */
  onSay(callback: (text: string) => void): void {
    this.said = callback;
  }
  onBusy(callback: (now: boolean) => void): void {
    this.busy = callback;
  }
  onCompare(callback: () => void): void {
    this.compare = callback;
  }
  showNest: (statement: string) => void = () => undefined; // in the picture, where one nest is shown at a time
  spread: () => void = () => undefined; // the room is shared anew: a pane wants more or less of it

  onMenu(callback: (of: MenuOf, x: number, y: number, from: HTMLElement) => void): void {
    this.menu = callback;
  }
  private menu: (of: MenuOf, x: number, y: number, from: HTMLElement) => void = () => undefined;

  /** What may be done at a loop or a statement, in a menu where the event is, or below the element the keyboard is at. */
  openMenu(of: MenuOf, event: MouseEvent | KeyboardEvent, from: HTMLElement): void {
    event.preventDefault();
    event.stopPropagation();
    const box = from.getBoundingClientRect();
    const mouse = event instanceof MouseEvent && (event.clientX > 0 || event.clientY > 0);
    this.menu(of, mouse ? event.clientX : box.left + 24, mouse ? event.clientY : box.bottom, from);
  }
  say(text: string): void {
    this.said(text);
  }

  async ask<N extends Question>(name: N, given: Given<N>): Promise<boolean> {
    return (await this.answer(name, given)) !== undefined;
  }

  /** The answer of the kernel; undefined when it refused, which is said. */
  async answer<N extends Question>(name: N, given: Given<N>, quiet = false): Promise<Result<N> | undefined> {
    if (this.gone) {
      this.say(GONE);
      return undefined;
    }
    this.waiting += quiet ? 0 : 1;
    this.busy(this.waiting > 0);
    try {
      return await ask(this.model, name, given);
    } catch (error) {
      this.say((error as Error).message);
      return undefined;
    } finally {
      this.waiting -= quiet ? 0 : 1;
      this.busy(this.waiting > 0);
    }
  }

  /** Whether the kernel was restarted or ended. */
  get gone(): boolean {
    return this.model.quiet;
  }

  /** The connection changed: whoever is there still answers, and what nobody answers is only a picture. */
  async seekKernel(told: () => void): Promise<void> {
    this.model.quiet = true;
    told();
    try {
      await ask(this.model, 'costs', { steps: [] });
    } catch {
      return;
    }
    this.model.quiet = false;
    told();
  }

  /** What a step would make of code, domain and loops, shown and not taken. */
  async preview(step: Step, text: string): Promise<void> {
    const found = await this.answer('preview', { step });
    if (found) this.look(found, text, 'C', () => this.apply(step, text));
  }

  /** The default mapping to a GPU, shown first; to find it may take seconds. */
  async mapToGpu(): Promise<void> {
    this.say('looking for the mapping to a GPU …');
    const found = await this.answer('gpu', { do: 'preview' });
    if (!found) return;
    const text = found.count > 3 ? `${numberOf(found.count, 'step')}: ${found.text.slice(0, 60)} …` : found.text;
    const note = found.note && `; ${found.note}`;
    this.look(found.preview, text, 'CUDA', async () => {
      if (await this.ask('gpu', { do: 'apply' })) this.say(`mapped to a GPU in ${numberOf(found.count, 'step')}${note}`);
    });
    if (note) this.say(`${text}: ${found.preview.verdict}, shown and not taken${note}`);
  }

  private look(found: Preview, text: string, language: Compared['language'], take: Compared['take']): void {
    const bytes = Uint8Array.from(atob(found.tables), (c) => c.charCodeAt(0));
    const data = new Data(found.domain, new DataView(bytes.buffer));
    this.compared = { text, take, language, after: found.lines, verdict: found.verdict, data, tree: found.tree };
    this.data = data;
    this.say(`${text}: ${found.verdict}, shown and not taken`);
    this.compare();
  }

  closePreview(): void {
    if (!this.compared) return;
    this.compared = null;
    this.data = this.read();
    this.compare();
  }

  /** Keep this schedule for comparison, or no longer. */
  async pin(): Promise<void> {
    if (this.pinned?.place === this.past.place) this.pinned = null;
    else {
      const { place, steps } = this.past;
      if (!this.model.get('views').footprint) await this.ask('view', { name: 'footprint' });
      const { footprint } = this.model.get('views');
      if (place !== this.past.place) return;
      const found = footprint && 'rows' in footprint ? footprint : { rows: [], touches: [] };
      const nodes = found.rows.map((row): LoopTraffic => [row.parent, row.held, row.moved, row.statements]);
      this.pinned = {
        name: steps.at(-1) ?? 'naive',
        place,
        code: bodyOf(this.code),
        nodes,
        touches: found.touches,
        moments: moments(this.data).table.length,
      };
    }
    this.say(this.pinned ? `${this.pinned.name} is pinned: every pane compares with it` : 'nothing is pinned');
    this.compare();
  }

  // -- what is worked out only when somebody looks -----------------------------------------------------------------------

  /** The text of the schedule that a column chose; none while the kernel is asked for it. */
  written(chosen: Chosen): Code | undefined {
    const language = (chosen.language ?? 'C') as Language;
    if (usual(chosen)) return language === 'C' ? this.code : this.view(language);
    const key = keyOf(chosen);
    const found = this.model.get('views').texts?.[key];
    if (!found) this.askFor('texts', { chosen: JSON.parse(key) as Chosen });
    return found;
  }

  /** What texts may be made by and for, asked once. */
  get tools(): Tools | undefined {
    if (!this.toolsAsked) {
      this.toolsAsked = true;
      void this.answer('tools', {}, true).then((found) => {
        this.toolsKnown = found;
        if (found) this.compare();
      });
    }
    return this.toolsKnown;
  }
  private toolsAsked = false;
  private toolsKnown: Tools | undefined;

  /** How things stand on the screen; nothing of the schedule. */
  arrange(change: Partial<Arrangement>): void {
    this.model.set('arrangement', { ...this.model.get('arrangement'), ...change });
    this.model.save_changes();
  }

  /** A lazy view; undefined while the kernel is asked for it (once). */
  view<N extends keyof Views>(name: N, given: Record<string, unknown> = {}): Views[N] {
    const found = this.model.get('views')[name];
    if (found === undefined) this.askFor(name, given);
    return found;
  }

  private askFor(name: keyof Views, given: Record<string, unknown>): void {
    const key = `${name} ${this.past.place} ${JSON.stringify(given)}`;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    void this.ask('view', { name, given });
  }

  /** Whether the step of a gesture would be legal; undefined until the kernel answers, which is then told. */
  judge(name: string, given: Record<string, unknown>, told: () => void): boolean | undefined {
    const key = `${this.past.place} ${name} ${JSON.stringify(given)}`;
    const known = this.judged.get(key);
    if (known === undefined && !this.asked.has(key)) {
      this.asked.add(key);
      void this.answer('judge', { name, given }, true).then((found) => {
        if (!found) return;
        this.judged.set(key, found.legal);
        told();
      });
    }
    return known;
  }
  private judged = new Map<string, boolean>();

  /** A new schedule: what was asked about the one before may be asked again; or only one view. */
  forgetViews(name = ''): void {
    if (!name) this.judged.clear();
    for (const key of this.asked) if (key.startsWith(name)) this.asked.delete(key);
  }

  /** The next steps, in parts: what else is asked meanwhile is answered in between. */
  async offer(given: Omit<Given<'offer'>, 'part'> = {}): Promise<void> {
    const { place } = this.past;
    if (this.offering === place) return;
    this.offering = place;
    let more = true;
    while (more && place === this.past.place) {
      more = (await this.answer('offer', { ...given, part: PART }, true))?.more ?? false;
    }
    if (this.offering === place) this.offering = -1;
  }
  private offering = -1;

  /** The machine as the sliders have it; the kernel hears of it when the hand lets go. */
  setMachine(change: Partial<Machine>, done: boolean): void {
    this.machine = { ...this.machine, ...change };
    if (done) {
      this.model.set('machine', this.machine);
      this.model.save_changes();
    }
    for (const callback of this.machines) callback();
  }

  onMachine(callback: () => void): void {
    this.machines.push(callback);
  }
  private machines: (() => void)[] = [];

  async apply(step: Step, text: string): Promise<void> {
    tell(); // who takes steps needs no hint
    if (await this.ask('apply', { step })) this.say(`applied ${text}`);
  }

  async gesture(name: string, given: Record<string, unknown>): Promise<void> {
    tell();
    this.worked = typeof given.statement === 'string' ? given.statement : '';
    if (await this.ask('gesture', { name, given })) this.say(`applied ${this.past.steps.at(-1) ?? ''}`);
  }
}

/** Whether a loop of these nodes, or below, is bound to blocks or threads. */
export function bound(nodes: TreeNode[]): boolean {
  return nodes.some((node) => /^(block|thread)\./.test(node.kind ?? '') || bound(node.children));
}

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The text of the function, without what stands before it. */
export function bodyOf(code: Code): string {
  return code.lines
    .slice(code.start)
    .map((line) => line.runs.map(([text]) => text).join(''))
    .join('\n');
}
