// What is worked out only when somebody looks, and asked for once: views, texts, next steps, whether a gesture is legal.

import type { Client } from './client';
import type { Given } from './kernel';
import type { Chosen, Code, Tools, Views } from './messages';

const PART = 0.05; // seconds of looking for next steps at a time
type Language = 'C' | 'CUDA' | 'assembly' | 'PTX' | 'SASS';

/** What a column is known by: what it chose, in the order of names, as the kernel writes it. */
export function keyOf(chosen: Chosen): string {
  const own = Object.entries(chosen).filter(([, value]) => value);
  return JSON.stringify(Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Whether a column shows its language as everywhere in the panel: then it is the text that everybody has. */
export function usual(chosen: Chosen): boolean {
  return chosen.language !== 'llvm-mca' && !chosen.compiler && !chosen.flags && !chosen.target;
}

export class LazyViews {
  private readonly asked = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly changed: () => void,
  ) {}

  /** The text of the schedule that a column chose; none while the kernel is asked for it. */
  written(chosen: Chosen): Code | undefined {
    const language = (chosen.language ?? 'C') as Language;
    if (usual(chosen)) return language === 'C' ? this.client.code : this.view(language);
    const key = keyOf(chosen);
    const found = this.client.model.get('views').texts?.[key];
    if (!found) this.askFor('texts', { chosen: JSON.parse(key) as Chosen });
    return found;
  }

  /** What texts may be made by and for, asked once. */
  get tools(): Tools | undefined {
    if (!this.toolsAsked) {
      this.toolsAsked = true;
      void this.client.answer('tools', {}, true).then((found) => {
        this.toolsKnown = found;
        if (found) this.changed();
      });
    }
    return this.toolsKnown;
  }
  private toolsAsked = false;
  private toolsKnown: Tools | undefined;

  /** A lazy view; undefined while the kernel is asked for it (once). */
  view<N extends keyof Views>(name: N, given: Record<string, unknown> = {}): Views[N] {
    const found = this.client.model.get('views')[name];
    if (found === undefined) this.askFor(name, given);
    return found;
  }

  private askFor(name: keyof Views, given: Record<string, unknown>): void {
    const key = `${name} ${this.client.past.place} ${JSON.stringify(given)}`;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    void this.client.ask('view', { name, given });
  }

  /** Whether the step of a gesture would be legal; undefined until the kernel answers, which is then told. */
  judge(name: string, given: Record<string, unknown>, told: () => void): boolean | undefined {
    const key = `${this.client.past.place} ${name} ${JSON.stringify(given)}`;
    const known = this.judged.get(key);
    if (known === undefined && !this.asked.has(key)) {
      this.asked.add(key);
      void this.client.answer('judge', { name, given }, true).then((found) => {
        if (!found) return;
        this.judged.set(key, found.legal);
        told();
      });
    }
    return known;
  }
  private judged = new Map<string, boolean>();

  /** A new schedule: what was asked about the one before may be asked again; or only one view. */
  forget(name = ''): void {
    if (!name) this.judged.clear();
    for (const key of this.asked) if (key.startsWith(name)) this.asked.delete(key);
  }

  /** The next steps, in parts: what else is asked meanwhile is answered in between. */
  async offer(given: Omit<Given<'offer'>, 'part'> = {}): Promise<void> {
    const { place } = this.client.past;
    if (this.offering === place) return;
    this.offering = place;
    let more = true;
    while (more && place === this.client.past.place) {
      more = (await this.client.answer('offer', { ...given, part: PART }, true))?.more ?? false;
    }
    if (this.offering === place) this.offering = -1;
  }
  private offering = -1;
}
