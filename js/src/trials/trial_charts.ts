// The charts of a study, by Observable Plot.  Each takes the same trials; what the filter leaves out is faint.

import * as Plot from '@observablehq/plot';
import { rate, duration } from '../tools/quantities';
import { said, soFar } from './trial';
import type { Trial } from './trial';
import type { StudyData } from '../state/messages';

export type Chart = (HTMLElement | SVGSVGElement) & { value?: unknown };
type Pick = (trial: Trial) => void;

const FAILED = ['', 'var(--wb-soft)', 'var(--wb-s1)', 'var(--wb-bad)', 'var(--wb-s3)', 'var(--wb-s4)', ''];
const MEASURED = 'var(--wb-s0)';
const BEST = 'var(--wb-s1)';
const FAINT = 0.13;
export const STYLE = {
  background: 'transparent',
  color: 'var(--wb-ink)',
  fontFamily: 'inherit',
  fontSize: '11px',
  overflow: 'visible',
  '--plot-background': 'var(--wb-ground)',
};
const LEVELS = ['L2', 'L3', 'memory'];

/** A logarithmic axis with a few round numbers, also where it spans less than a power of ten. */
function logarithmic(low: number, high: number, most: number, text: (v: number) => string, label: string | null = null): Plot.ScaleOptions {
  const all = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]].map((factors) => {
    const powers = Array.from({ length: 60 }, (_, i) => 10 ** (i - 20));
    return powers.flatMap((p) => factors.map((f) => f * p)).filter((v) => v >= low && v <= high);
  });
  const fitting = all.filter((ticks) => ticks.length <= most);
  return { type: 'log', domain: [low, high], ticks: fitting.at(-1) ?? all[0], tickFormat: text, label };
}

/** At most so many whole numbers for an axis, multiples of 1, 2 or 5 times a power of ten. */
export function whole(values: number[], most: number): number[] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const steps = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((f) => f * 10 ** power));
  const step = steps.find((s) => (high - low) / s < most)!;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

const inSeconds = (low: number, high: number, most: number, label: string | null = null) => logarithmic(low, high, most, duration, label);
const opacity = (t: Trial): number => (t.kept ? 0.85 : FAINT);

/** A chart whose points may be clicked. */
function clicked(chart: Chart, pick: Pick): Chart {
  chart.addEventListener('click', () => {
    if (chart.value) pick(chart.value as Trial);
  });
  return chart;
}

function tip(
  trials: Trial[],
  x: keyof Trial | ((t: Trial) => number),
  y: keyof Trial | ((t: Trial) => number),
  study: StudyData,
): Plot.Markish {
  return Plot.tip(
    trials,
    Plot.pointer({ x: x as string, y: y as string, title: (t: Trial) => said(t, study), fontSize: 11, lineWidth: 34, maxRadius: 24 }),
  );
}

function ring(trials: Trial[], shown: number | null, x: unknown, y: unknown): Plot.Markish {
  return Plot.dot(
    trials.filter((t) => t.number === shown),
    { x: x as string, y: y as string, r: 7, stroke: 'var(--wb-ink)', strokeWidth: 2, fill: 'none' },
  );
}

/** Every trial in its order, failures above, the best so far and the baselines. */
export function overTime(study: StudyData, trials: Trial[], shown: number | null, width: number, pick: Pick): Chart {
  const good = trials.filter((t) => t.seconds !== null);
  const failed = trials.filter((t) => t.seconds === null);
  const values = [...good.map((t) => t.seconds!), ...study.baselines.map(([, s]) => s)];
  const [low, high] = [Math.min(...values) / 1.15, Math.max(...values) * (failed.length ? 1.5 : 1.15)];
  const top = high / 1.12;
  const placed = (t: Trial) => t.seconds ?? top;
  return clicked(
    Plot.plot({
      width,
      height: 250,
      marginLeft: 52,
      marginRight: 20,
      style: STYLE,
      ariaLabel: 'trials, and the best so far',
      x: {
        label: 'trial',
        nice: true,
        grid: false,
        tickFormat: 'd',
        ticks: whole(
          trials.map((t) => t.number),
          10,
        ),
      },
      y: { ...inSeconds(low, high, 7), grid: true },
      marks: [
        Plot.ruleY(study.baselines, { y: '1', stroke: 'var(--wb-soft)', strokeDasharray: '5 4' }),
        Plot.text(study.baselines, { y: '1', text: '0', frameAnchor: 'right', textAnchor: 'end', dy: -6, fill: 'var(--wb-soft)' }),
        Plot.dot(failed, {
          x: 'number',
          y: placed,
          symbol: 'times',
          stroke: (t: Trial) => FAILED[t.outcome],
          strokeOpacity: opacity,
          r: 4,
        }),
        Plot.dot(good, {
          x: 'number',
          y: 'seconds',
          fill: (t: Trial) => (t.twinOf === null ? MEASURED : 'none'),
          stroke: (t: Trial) => (t.twinOf === null ? 'none' : MEASURED),
          fillOpacity: opacity,
          strokeOpacity: opacity,
          r: 3.2,
          ariaLabel: (t: Trial) => `trial ${t.number}`,
        }),
        Plot.line(soFar(trials), { x: 'number', y: 'seconds', stroke: BEST, strokeWidth: 1.8, curve: 'step-after' }),
        ring(trials, shown, 'number', placed),
        tip(trials, 'number', placed, study),
      ],
    }),
    pick,
  );
}

/** Predicted seconds beside measured ones: on the line the model was right. */
export function predictions(study: StudyData, trials: Trial[], shown: number | null, width: number, pick: Pick): Chart | null {
  const own = trials.filter((t) => t.predicted !== null && t.seconds !== null);
  if (own.length < 2) return null;
  const values = own.flatMap((t) => [t.predicted!, t.seconds!]);
  const domain: [number, number] = [Math.min(...values) / 1.1, Math.max(...values) * 1.1];
  return clicked(
    Plot.plot({
      width,
      height: 210,
      marginLeft: 52,
      marginRight: 16,
      style: STYLE,
      ariaLabel: 'predicted seconds beside measured ones',
      x: inSeconds(...domain, 5, 'measured'),
      y: { ...inSeconds(...domain, 6, 'predicted'), grid: true },
      marks: [
        Plot.line(
          [
            [domain[0], domain[0]],
            [domain[1], domain[1]],
          ],
          { stroke: 'var(--wb-soft)', strokeDasharray: '5 4' },
        ),
        Plot.dot(own, { x: 'seconds', y: 'predicted', fill: MEASURED, fillOpacity: opacity, r: 3 }),
        ring(own, shown, 'seconds', 'predicted'),
        tip(own, 'seconds', 'predicted', study),
      ],
    }),
    pick,
  );
}

/** Kendall's tau and the recall of the best, round by round. */
export function ranking(study: StudyData, width: number): Chart | null {
  if (study.ranking.length < 2) return null;
  const rows = study.ranking.flatMap(([round, tau, recall]) => [
    { round, value: tau, of: 'tau' },
    { round, value: recall, of: 'recall of the best' },
  ]);
  const colour = (r: { of: string }) => (r.of === 'tau' ? MEASURED : BEST);
  return Plot.plot({
    width,
    height: 210,
    marginLeft: 34,
    marginRight: 16,
    marginTop: 30,
    style: STYLE,
    ariaLabel: 'how well the model ranked each round',
    x: {
      label: 'round',
      tickFormat: 'd',
      ticks: whole(
        study.ranking.map(([round]) => round),
        8,
      ),
    },
    y: { domain: [-1, 1], grid: true, label: null, ticks: 5 },
    marks: [
      Plot.ruleY([0], { stroke: 'var(--wb-soft)' }),
      Plot.line(rows, { x: 'round', y: 'value', z: 'of', stroke: colour, strokeWidth: 1.6 }),
      Plot.dot(rows, { x: 'round', y: 'value', fill: colour, r: 2.5 }),
      Plot.text(['Kendall’s tau'], { frameAnchor: 'top-left', dy: -18, fill: MEASURED }),
      Plot.text(['recall of the best'], { frameAnchor: 'top-left', dx: 76, dy: -18, fill: BEST }),
    ],
  });
}

/** How much of the differences each decision explains. */
export function importances(study: StudyData, width: number): Chart | null {
  const rows = study.importance.slice(0, 9);
  if (!rows.length) return null;
  const room = Math.min(150, 16 + 6.3 * Math.max(...rows.map(([name]) => Math.min(22, name.length))));
  return Plot.plot({
    width,
    height: 40 + 22 * rows.length,
    marginLeft: room,
    marginRight: 36,
    style: STYLE,
    ariaLabel: 'which decisions matter',
    x: { domain: [0, Math.max(0.05, ...rows.map(([, part]) => part))], axis: null },
    y: {
      domain: rows.map(([name]) => name),
      label: null,
      tickSize: 0,
      tickFormat: (name: string) => (name.length > 22 ? `${name.slice(0, 21)}…` : name),
    },
    marks: [
      Plot.barX(rows, { x: '1', y: '0', fill: MEASURED, fillOpacity: 0.8, insetTop: 3, insetBottom: 3 }),
      Plot.text(rows, { x: '1', y: '0', text: ([, part]: [string, number]) => `${Math.round(100 * part)} %`, textAnchor: 'start', dx: 4 }),
    ],
  });
}

/** Operations a second against operations a byte, at the level of memory that allows least. */
export function roofline(study: StudyData, trials: Trial[], shown: number | null, width: number, pick: Pick): Chart | null {
  const own = trials.filter((t) => t.seconds && t.bytes && t.twinOf === null).map((t) => ({ ...t, ...placed(t, study) }));
  if (!study.flops || own.length < 2) return null;
  const { ceilings } = study;
  const xs = own.map((t) => t.intensity);
  const [low, high] = [Math.min(...xs) / 2, Math.max(...xs) * 2];
  const under = (x: number) => Math.min(high, Math.max(low, x));
  const roofs = Object.entries(ceilings?.bytes ?? {})
    .filter(([name]) => LEVELS.includes(name))
    .map(([name, bytes]) => ({
      name,
      knee: under(ceilings!.flops / bytes),
      points: [low, under(ceilings!.flops / bytes), high].map((x) => ({ x, y: Math.min(ceilings!.flops, x * bytes) })),
    }));
  const ys = own.map((t) => t.rate);
  const [slow, fast] = [Math.min(...ys) / 2, Math.max(...ys, ceilings?.flops ?? 0) * 1.4];
  const flops = (v: number) => rate(v, 'FLOP/s');
  return clicked(
    Plot.plot({
      width,
      height: 210,
      marginLeft: 80,
      marginRight: 16,
      style: STYLE,
      ariaLabel: 'trials below the ceilings of this machine',
      x: logarithmic(low, high, 6, (v) => String(Number(v.toPrecision(2))), 'operations a byte'),
      y: { ...logarithmic(slow, fast, 5, flops), grid: true },
      marks: [
        roofs.map(({ points }) => Plot.line(points, { x: 'x', y: 'y', stroke: 'var(--wb-soft)', strokeWidth: 1.2, clip: true })),
        Plot.text(roofs, { x: 'knee', y: () => ceilings!.flops, text: 'name', dy: -8, fill: 'var(--wb-soft)' }),
        Plot.dot(own, { x: 'intensity', y: 'rate', fill: MEASURED, fillOpacity: opacity, r: 3 }),
        ring(own, shown, 'intensity', 'rate'),
        tip(own, 'intensity' as keyof Trial, 'rate' as keyof Trial, study),
      ],
    }),
    pick,
  );
}

/** Where a trial stands: the level whose roof is lowest above it. */
function placed(trial: Trial, study: StudyData): { intensity: number; rate: number } {
  const all = trial.bytes!.map((bytes, level) => {
    const intensity = study.flops / Math.max(1, bytes);
    return { intensity, roof: intensity * (study.ceilings?.bytes[LEVELS[level]] ?? 1) };
  });
  const least = all.reduce((a, b) => (b.roof < a.roof ? b : a));
  return { intensity: least.intensity, rate: study.flops / trial.seconds! };
}
