// What the panes share: the model, its data, what is lit, and the ways to change them.

import { Data } from './data';
import { ask } from './kernel';
import { Lit, lit } from './lighting';
import type { Code, Model, Offers, Past, Refusal, Selection, Step, TreeNode } from './types';

export type Mode = 'select' | 'tile' | 'skew';

/** A step that is looked at before it is taken: the code after it. */
export interface Compared {
  text: string;
  step: Step;
  after: string[];
  verdict: string;
}

export class State {
  readonly model: Model;
  data: Data;
  hovered: Selection | null = null;
  mode: Mode = 'select';
  time: number | null = null; // so many instances have run; null: all of them
  shownKinds = new Set(['flow', 'anti', 'output', 'reduction']);
  compared: Compared | null = null;
  private compare: () => void = () => undefined;
  private lighting: (() => void)[] = [];
  private said: (text: string) => void = () => undefined;
  private busy: (now: boolean) => void = () => undefined;
  private waiting = 0;

  constructor(model: Model) {
    this.model = model;
    this.data = this.read();
  }

  read(): Data {
    return new Data(this.model.get('domain'), this.model.get('tables'));
  }

  get tree(): TreeNode[] { return this.model.get('tree'); }
  get code(): Code { return this.model.get('code'); }
  get past(): Past { return this.model.get('past'); }
  get offers(): Offers { return this.model.get('offers'); }
  get refusal(): Refusal { return this.model.get('refusal'); }
  get selection(): Selection { return this.model.get('selection'); }

  get lit(): Lit {
    return lit(this.hovered ?? this.selection, this.data, this.tree, this.code);
  }

  onLight(callback: () => void): void {
    this.lighting.push(callback);
  }

  forget(): void {
    this.lighting = [];
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

  /** What screen readers hear, and everybody reads below the panes. */
  onSay(callback: (text: string) => void): void { this.said = callback; }
  onBusy(callback: (now: boolean) => void): void { this.busy = callback; }
  onCompare(callback: () => void): void { this.compare = callback; }
  say(text: string): void { this.said(text); }

  async ask(name: string, given: Record<string, unknown> = {}): Promise<boolean> {
    return (await this.answer(name, given)) !== undefined;
  }

  /** The answer of the kernel; undefined when it refused, which is said. */
  async answer(name: string, given: Record<string, unknown> = {}): Promise<unknown> {
    this.waiting += 1;
    this.busy(true);
    try {
      return (await ask(this.model, name, given)) ?? null;
    } catch (error) {
      this.say((error as Error).message);
      return undefined;
    } finally {
      this.waiting -= 1;
      this.busy(this.waiting > 0);
    }
  }

  /** What a step would make of the code, shown and not taken. */
  async preview(step: Step, text: string): Promise<void> {
    const found = (await this.answer('preview', { step })) as { lines: string[]; verdict: string } | undefined;
    if (!found) return;
    this.compared = { text, step, after: found.lines, verdict: found.verdict };
    this.compare();
  }

  closePreview(): void {
    this.compared = null;
    this.compare();
  }

  async apply(step: Step, text: string): Promise<void> {
    if (await this.ask('apply', { step })) this.say(`applied ${text}`);
  }

  async gesture(name: string, given: Record<string, unknown>): Promise<void> {
    if (await this.ask('gesture', { name, given })) this.say(`applied ${this.past.steps.at(-1) ?? ''}`);
  }
}

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
