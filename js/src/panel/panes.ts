// The panes of a panel: what the button of each says, and how it is made when it is first shown.

import { CachePane } from '../machine/cache';
import { CodePane } from '../code/code';
import { DomainPane } from '../domain/domain';
import { OperatorPane } from '../code/editor';
import { ExportPane } from '../code/exports';
import { FlowPane } from '../graphs/flow';
import { FootprintPane } from '../machine/footprint';
import { HistoryPane } from '../schedule/history';
import { LanesPane } from '../machine/lanes';
import { ModelPane } from '../graphs/model';
import { RooflinePane } from '../machine/roofline';
import { StepsPane } from '../schedule/steps';
import { TreePane } from '../schedule/tree';
import { TrialsPane } from '../trials/trials';
import { WarpsPane } from '../machine/warps';
import { pair } from '../layout/layout';
import type { State } from '../state/state';

export interface Pane {
  element: HTMLElement;
  draw(): void;
  light?(): void;
  close?(): void;
}

// Name → what its button says, and how it is made.  The order is that of the buttons.
export const PANES: Record<string, [title: string, make: (state: State) => Pane]> = {
  model: ['model', (state) => new ModelPane(state)],
  trials: ['trials', (state) => new TrialsPane(state)],
  operator: ['operator', (state) => new OperatorPane(state)],
  domain: ['domain', (state) => new DomainPane(state)],
  code: ['code', (state) => new CodePane(state)],
  tree: ['loops', (state) => new TreePane(state)],
  steps: ['next steps', (state) => new StepsPane(state)],
  history: ['history', (state) => new HistoryPane(state)],
  dataflow: ['dataflow', (state) => new FlowPane(state)],
  footprint: ['memory', (state) => new FootprintPane(state)],
  cache: ['cache lines', (state) => new CachePane(state)],
  lanes: ['threads', (state) => new LanesPane(state)],
  roofline: ['roofline', (state) => new RooflinePane(state)],
  warps: ['warps', (state) => new WarpsPane(state)],
  export: ['export', (state) => new ExportPane(state)],
};

/** Whose pictures are as large as their room. */
const SIZED = ['domain', 'dataflow', 'footprint', 'roofline', 'trials'];

export class Panes {
  private readonly made = new Map<string, Pane>();

  constructor(
    private readonly state: State,
    private readonly around: HTMLElement,
  ) {}

  of(name: string): Pane {
    const known = this.made.get(name) ?? PANES[name][1](this.state);
    this.made.set(name, known);
    return known;
  }

  /** Names of the panes that are shown: of a talk, two. */
  get names(): string[] {
    const { talk, pair: two } = this.state.arrangement;
    const names = this.state.model.get('panes').filter((name) => name in PANES);
    return talk ? pair(names, two ?? []) : names;
  }

  /** The panes that are shown, made when they are first. */
  get shown(): Pane[] {
    return this.names.map((name) => this.of(name));
  }

  /** One more pane or one less, in a talk another in place of one; whether it is shown now. */
  toggle(name: string): boolean {
    const { model, arrangement } = this.state;
    const now = model.get('panes');
    if (arrangement.talk && !this.names.includes(name)) {
      model.set('arrangement', { ...arrangement, pair: [name, ...this.names].slice(0, 2) });
      if (now.includes(name)) return true;
    }
    model.set(
      'panes',
      now.includes(name) ? now.filter((n) => n !== name) : Object.keys(PANES).filter((n) => n === name || now.includes(n)),
    );
    return !now.includes(name);
  }

  /** What has a picture is drawn anew where its room is another. */
  resized(name: string): void {
    if (SIZED.includes(name) && this.names.includes(name)) this.of(name).draw();
  }

  /** Those of these that stand there are drawn anew. */
  redraw(...names: string[]): void {
    for (const name of names) {
      const pane = this.made.get(name);
      if (pane && this.around.contains(pane.element)) pane.draw();
    }
  }

  close(): void {
    for (const pane of this.made.values()) pane.close?.();
  }
}
