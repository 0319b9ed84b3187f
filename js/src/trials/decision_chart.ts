// All trials of a study as lines through what they decided, to their seconds.

import * as Plot from '@observablehq/plot';
import type { StudyData } from '../state/messages';
import { fastest } from './trial';
import { duration } from '../tools/quantities';
import type { Trial } from './trial';
import { STYLE } from './trial_charts';
import type { Chart } from './trial_charts';

/** Every trial as a line through what it decided, to its seconds; a click on an option filters by it. */
export function parallel(
  study: StudyData,
  trials: Trial[],
  shown: number | null,
  width: number,
  choose: (decision: number, place: number) => void,
  chosen: (decision: number, place: number) => boolean,
): Chart | null {
  const good = trials.filter((t) => t.seconds !== null && t.places.every((p) => p >= 0));
  if (!good.length) return null;
  const timed = study.ranked ? 'estimate' : 'seconds';
  const axes = [...study.decisions.map((d) => d.name), timed];
  const [best, worst] = [fastest(study), Math.max(...good.map((t) => t.seconds!))];
  const up = (place: number, of: number) => (of > 1 ? place / (of - 1) : 0.5);
  const order = study.decisions.map((d) => rank(d));
  const time = (s: number) => Math.log(s / best) / Math.max(1e-9, Math.log(worst / best));
  const heat = (t: Trial) => `var(--wb-h${Math.max(0, 4 - Math.floor(Math.log2(t.seconds! / best) * 2))})`;
  const lines = [...good]
    .sort((a, b) => b.seconds! - a.seconds!)
    .flatMap((t) =>
      axes.map((axis, i) => ({ axis, trial: t, y: i < order.length ? up(order[i][t.places[i]], order[i].length) : time(t.seconds!) })),
    );
  const labels = study.decisions.flatMap((d, i) =>
    d.options.map((option, place) => ({
      axis: d.name,
      y: up(order[i][place], d.options.length),
      text: shorter(option),
      decision: i,
      place,
    })),
  );
  const ends = [
    { axis: timed, y: 0, text: duration(best) },
    { axis: timed, y: 1, text: duration(worst) },
  ];
  const chart = Plot.plot({
    width,
    height: 250,
    marginTop: 26,
    marginBottom: 14,
    marginLeft: 30,
    marginRight: 96,
    style: STYLE,
    ariaLabel: 'all trials, decision by decision',
    x: { type: 'point', domain: axes, axis: 'top', label: null, tickSize: 0, tickFormat: shorter },
    y: { domain: [0, 1], axis: null },
    color: { type: 'identity' },
    marks: [
      Plot.ruleX(axes, { stroke: 'var(--wb-grid)' }),
      Plot.line(lines, {
        x: 'axis',
        y: 'y',
        z: (l: { trial: Trial }) => l.trial.number,
        stroke: (l: { trial: Trial }) => heat(l.trial),
        strokeOpacity: (l: { trial: Trial }) => (l.trial.kept ? 0.75 : 0.05),
        strokeWidth: 1.2,
      }),
      Plot.line(
        lines.filter((l) => l.trial.number === shown),
        { x: 'axis', y: 'y', stroke: 'var(--wb-ink)', strokeWidth: 2.2 },
      ),
      Plot.text(labels, {
        x: 'axis',
        y: 'y',
        text: 'text',
        textAnchor: 'start',
        dx: 5,
        fill: 'currentColor',
        stroke: 'var(--wb-ground)',
        strokeWidth: 4,
        ariaLabel: 'option',
      }),
      Plot.text(ends, {
        x: 'axis',
        y: 'y',
        text: 'text',
        textAnchor: 'start',
        dx: 5,
        fill: 'currentColor',
        stroke: 'var(--wb-ground)',
        strokeWidth: 4,
      }),
    ],
  }) as Chart;
  options(chart, labels, choose, chosen);
  return chart;
}

/** The options become buttons. */
function options(
  chart: Chart,
  labels: { decision: number; place: number; text: string }[],
  choose: (decision: number, place: number) => void,
  chosen: (decision: number, place: number) => boolean,
): void {
  const texts = [...chart.querySelectorAll<SVGTextElement>('[aria-label="text"]')][0]?.querySelectorAll<SVGTextElement>('text') ?? [];
  texts.forEach((text, i) => {
    const { decision, place } = labels[i];
    const act = () => choose(decision, place);
    text.setAttribute('class', `option${chosen(decision, place) ? ' chosen' : ''}`);
    text.setAttribute('role', 'button');
    text.setAttribute('tabindex', '0');
    text.setAttribute('aria-pressed', String(chosen(decision, place)));
    text.addEventListener('click', act);
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        act();
        event.preventDefault();
      }
    });
  });
}

/** Option → where it stands on its axis: numbers in their order, others as they were written. */
export function rank({ options: all, ordered }: StudyData['decisions'][number]): number[] {
  const places = all.map((_, i) => i);
  if (ordered) places.sort((a, b) => Number(all[a]) - Number(all[b]));
  const found: number[] = [];
  places.forEach((place, at) => {
    found[place] = at;
  });
  return found;
}

const shorter = (text: string): string => (text.length > 20 ? `${text.slice(0, 19)}…` : text);
