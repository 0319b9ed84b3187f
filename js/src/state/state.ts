// What the panes share: the schedule and its instances, what is lit, and the ways to change them.

import { tell } from '../tools/hints';
import { Client } from './client';
import { Comparing } from './comparing';
import type { Compared, Pinned } from './comparing';
import { Data } from './data';
import { Colours } from './kept_colours';
import type { Kept } from './kept_colours';
import type { Model } from './kernel';
import { LazyViews } from './lazy_views';
import { lit } from './lighting';
import type { Lit } from './lighting';
import { moments } from './moments';
import type { Moments } from './moments';
import type { Arrangement, Machine, Selection, TreeNode } from './messages';

export type Mode = 'select' | 'tile' | 'skew';
/** What a menu is of: a loop, as steps name it, or a statement. */
export type MenuOf = { loop: string } | { statement: string };

export class State extends Client {
  readonly lazy = new LazyViews(this, () => this.redraw());
  readonly comparing = new Comparing(this, () => this.redraw());
  private own: Data;
  hovered: Selection | null = null;
  mode: Mode = 'tile';
  time: number | null = null; // so many instances (or moments) have run; null: all of them
  together = false; // time counts moments in which threads and lanes run at once
  shownKinds = new Set(['flow', 'anti', 'output', 'reduction']);
  hiddenArrays = new Set<string>(); // whose dependences are not drawn
  readonly colours = new Colours();
  machine: Machine;
  pointed = ''; // the nest that the mouse was last over
  pictured: string[] = []; // the statements of the pictures that are drawn
  worked = ''; // the statement of the last step that was made by hand
  private redraw: () => void = () => undefined;
  private lighting: (() => void)[] = [];

  constructor(model: Model) {
    super(model);
    this.own = this.read();
    this.machine = model.get('machine');
  }

  private read(): Data {
    return new Data(this.model.get('domain'), this.model.get('tables'));
  }

  /** The instances that are shown: of a step that is looked at, else of the schedule. */
  get data(): Data {
    return this.compared?.data ?? this.own;
  }
  get compared(): Compared | null {
    return this.comparing.compared;
  }
  get pinned(): Pinned | null {
    return this.comparing.pinned;
  }

  /** The schedule as the kernel told it last, without a step that was looked at. */
  renew(): void {
    this.comparing.compared = null;
    this.own = this.read();
  }

  closePreview(): void {
    if (!this.compared) return;
    this.renew();
    this.redraw();
  }

  /** Whether loops are bound to what only a GPU has. */
  get onGpu(): boolean {
    return bound(this.model.get('tree'));
  }
  get tree(): TreeNode[] {
    return this.compared?.tree ?? this.model.get('tree');
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

  /** A preview, a pin or what was asked for changes every pane. */
  onCompare(callback: () => void): void {
    this.redraw = callback;
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

  /** How things stand on the screen; nothing of the schedule. */
  get arrangement(): Partial<Arrangement> {
    return this.model.get('arrangement') ?? {};
  }
  arrange(change: Partial<Arrangement>): void {
    this.model.set('arrangement', { ...this.arrangement, ...change });
    this.model.save_changes();
  }

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
