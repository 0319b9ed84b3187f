// The kernel as the panes see it: what it last told, by short names, and what it is asked, refused or not.

import { tell } from '../tools/hints';
import { Wire, ask } from './kernel';
import type { Given, Model, Question, Result } from './kernel';
import type { Code, MeasuredData, Offers, Past, Refusal, Selection, Source, Step } from './messages';

export const GONE = 'kernel gone: this is what it showed last; run the cell again';

export class Client {
  readonly model: Wire;
  private said: (text: string) => void = () => undefined;
  private busy: (now: boolean) => void = () => undefined;
  private waiting = 0; // for so many answers

  constructor(model: Model) {
    this.model = new Wire(model);
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

  /** What screen readers hear, and everybody reads below the panes. */
  onSay(callback: (text: string) => void): void {
    this.said = callback;
  }
  say(text: string): void {
    this.said(text);
  }
  onBusy(callback: (now: boolean) => void): void {
    this.busy = callback;
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

  async apply(step: Step, text: string): Promise<void> {
    tell(); // who takes steps needs no hint
    if (await this.ask('apply', { step })) this.say(`applied ${text}`);
  }
}
