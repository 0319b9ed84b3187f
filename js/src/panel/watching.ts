// What of the model changed: a step changes several traits with one message, and is heard of once.

import { same } from '../state/state';
import type { Wire } from '../state/kernel';
import type { Machine, Traits } from '../state/messages';

const DRAWN: (keyof Traits)[] = ['title', 'domain', 'tables', 'tree', 'past', 'source'];
const WATCHED: (keyof Traits)[] = [
  ...DRAWN,
  'code',
  'refusal',
  'offers',
  'selection',
  'views',
  'machine',
  'panes',
  'study',
  'export',
  'measured',
  'network',
  'arrangement',
];

/** Which parts of what is shown are no longer as they were, and the machine as it was. */
export interface Changed {
  drawn: boolean; // the schedule, and all that is drawn of it
  panes: boolean;
  laid: boolean;
  refused: boolean;
  offered: boolean;
  viewed: boolean;
  written: boolean;
  tried: boolean;
  exported: boolean;
  timed: boolean;
  modelled: boolean;
  machine: Machine;
}

export class Watching {
  private before: Partial<Traits> = {};
  private waiting = false;

  constructor(
    private readonly model: Wire,
    private readonly heard: (changed: Changed) => void,
  ) {
    WATCHED.forEach((name) => model.on(`change:${name}`, this.hear));
    this.remember();
  }

  private remember(): void {
    this.before = Object.fromEntries(WATCHED.map((name) => [name, this.model.get(name)]));
  }

  private readonly hear = (): void => {
    if (this.waiting) return;
    this.waiting = true;
    queueMicrotask(() => {
      this.waiting = false;
      const changed = this.changed();
      this.remember();
      this.heard(changed);
    });
  };

  private changed(): Changed {
    const { model, before } = this;
    const differs = (name: keyof Traits) => model.get(name) !== before[name];
    const other = (name: keyof Traits) => !same(model.get(name), before[name]); // by what it holds
    return {
      drawn: DRAWN.some(differs),
      panes: other('panes'),
      laid: other('arrangement'),
      refused: other('refusal'),
      offered: differs('offers'),
      viewed: differs('views'),
      written: differs('code'),
      tried: differs('study'),
      exported: differs('export'),
      timed: differs('measured'),
      modelled: differs('network'),
      machine: before.machine!,
    };
  }

  close(): void {
    WATCHED.forEach((name) => this.model.off(`change:${name}`, this.hear));
  }
}
