// What the schedule that is shown is compared with: a step before it is taken, and a schedule that was pinned.

import { numberOf } from '../tools/quantities';
import type { Client } from './client';
import { Data } from './data';
import { moments } from './moments';
import type { Code, LoopTraffic, Preview, Step, TreeNode } from './messages';

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

export class Comparing {
  compared: Compared | null = null;
  pinned: Pinned | null = null;

  constructor(
    private readonly client: Client,
    private readonly changed: () => void,
  ) {}

  /** What a step would make of code, domain and loops, shown and not taken. */
  async preview(step: Step, text: string): Promise<void> {
    const found = await this.client.answer('preview', { step });
    if (found) this.look(found, text, 'C', () => this.client.apply(step, text));
  }

  /** The default mapping to a GPU, shown first; to find it may take seconds. */
  async mapToGpu(): Promise<void> {
    this.client.say('looking for the mapping to a GPU …');
    const found = await this.client.answer('gpu', { do: 'preview' });
    if (!found) return;
    const text = found.count > 3 ? `${numberOf(found.count, 'step')}: ${found.text.slice(0, 60)} …` : found.text;
    const note = found.note && `; ${found.note}`;
    this.look(found.preview, text, 'CUDA', async () => {
      if (await this.client.ask('gpu', { do: 'apply' })) this.client.say(`mapped to a GPU in ${numberOf(found.count, 'step')}${note}`);
    });
    if (note) this.client.say(`${text}: ${found.preview.verdict}, shown and not taken${note}`);
  }

  private look(found: Preview, text: string, language: Compared['language'], take: Compared['take']): void {
    const bytes = Uint8Array.from(atob(found.tables), (c) => c.charCodeAt(0));
    const data = new Data(found.domain, new DataView(bytes.buffer));
    this.compared = { text, take, language, after: found.lines, verdict: found.verdict, data, tree: found.tree };
    this.client.say(`${text}: ${found.verdict}, shown and not taken`);
    this.changed();
  }

  /** Keep this schedule, whose instances these are, for comparison, or no longer. */
  async pin(data: Data): Promise<void> {
    if (this.pinned?.place === this.client.past.place) this.pinned = null;
    else {
      const { place, steps } = this.client.past;
      if (!this.client.model.get('views').footprint) await this.client.ask('view', { name: 'footprint' });
      const { footprint } = this.client.model.get('views');
      if (place !== this.client.past.place) return;
      const found = footprint && 'rows' in footprint ? footprint : { rows: [], touches: [] };
      const nodes = found.rows.map((row): LoopTraffic => [row.parent, row.held, row.moved, row.statements]);
      this.pinned = {
        name: steps.at(-1) ?? 'naive',
        place,
        code: bodyOf(this.client.code),
        nodes,
        touches: found.touches,
        moments: moments(data).table.length,
      };
    }
    this.client.say(this.pinned ? `${this.pinned.name} is pinned: every pane compares with it` : 'nothing is pinned');
    this.changed();
  }
}

/** The text of the function, without what stands before it. */
export function bodyOf(code: Code): string {
  return code.lines
    .slice(code.start)
    .map((line) => line.runs.map(([text]) => text).join(''))
    .join('\n');
}
