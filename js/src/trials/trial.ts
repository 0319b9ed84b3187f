// Trials as the charts see them: rows by name, and the filter that all charts share.

import { duration } from '../tools/quantities';
import type { StudyData, TrialRow } from '../state/messages';

export interface Trial {
  number: number;
  outcome: number;
  seconds: number | null;
  predicted: number | null;
  round: number;
  confirmed: boolean;
  places: number[];
  bytes: number[] | null;
  twinOf: number | null; // the trial whose schedule it gives: it was not measured again
  kept: boolean; // by the filter
}

export class Filter {
  readonly outcomes = new Set<number>(); // none: all
  readonly options = new Map<number, Set<number>>();
  factor = Infinity; // times the best

  get any(): boolean {
    return this.outcomes.size > 0 || this.options.size > 0 || this.factor < Infinity;
  }

  clear(): void {
    this.outcomes.clear();
    this.options.clear();
    this.factor = Infinity;
  }

  toggleOutcome(outcome: number): void {
    if (!this.outcomes.delete(outcome)) this.outcomes.add(outcome);
  }

  toggleOption(decision: number, place: number): void {
    const chosen = this.options.get(decision) ?? new Set();
    if (!chosen.delete(place)) chosen.add(place);
    if (chosen.size) this.options.set(decision, chosen);
    else this.options.delete(decision);
  }

  keeps([, outcome, seconds, , , , places]: TrialRow, best: number): boolean {
    if (this.outcomes.size && !this.outcomes.has(outcome)) return false;
    for (const [decision, chosen] of this.options) if (!chosen.has(places[decision])) return false;
    return this.factor === Infinity || (seconds !== null && seconds <= this.factor * best);
  }
}

/** Every trial with its names, and whether the filter keeps it. */
export function named(study: StudyData, filter: Filter): Trial[] {
  const best = fastest(study);
  return study.trials.map((row) => {
    const [number, outcome, seconds, predicted, round, confirmed, places, bytes, twinOf] = row;
    return {
      number,
      outcome,
      seconds,
      predicted,
      round,
      confirmed: Boolean(confirmed),
      places,
      bytes,
      twinOf,
      kept: filter.keeps(row, best),
    };
  });
}

/** Seconds of the best trial; infinite before there is one. */
export function fastest(study: StudyData): number {
  const own = study.trials.find(([number]) => number === study.best)?.[2];
  return own ?? Infinity;
}

/** The best of those so far, trial by trial. */
export function soFar(trials: Trial[]): { number: number; seconds: number }[] {
  let best = Infinity;
  const found = trials
    .filter((t) => t.seconds !== null && t.twinOf === null)
    .map((t) => ({ number: t.number, seconds: (best = Math.min(best, t.seconds!)) }));
  const last = trials.at(-1)?.number;
  if (found.length && last !== undefined && last > found.at(-1)!.number) found.push({ number: last, seconds: best });
  return found;
}

/** Whose schedule a trial gives, if another's. */
export function twinSaid({ twinOf }: Trial): string {
  return twinOf === null ? '' : `, the schedule of ${twinOf ? `trial ${twinOf}` : 'the default recipe'}`;
}

/** A trial in one line. */
export function said(trial: Trial, study: StudyData): string {
  const decided = study.decisions.map((d, i) => `${d.name} = ${d.options[trial.places[i]] ?? '?'}`);
  const what = trial.seconds !== null ? `${study.ranked ? 'estimated ' : ''}${duration(trial.seconds)}` : study.outcomes[trial.outcome];
  const expected = trial.predicted !== null ? `, predicted ${duration(trial.predicted)}` : '';
  return [
    `trial ${trial.number}: ${what}${expected}${twinSaid(trial)}`,
    ...decided.map((d) => (d.length > 60 ? `${d.slice(0, 59)}…` : d)),
  ].join('\n');
}
