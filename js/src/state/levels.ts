// How much each cache moves, from what the loops hold: the same rule as `viz.footprint` has in Python.

import type { Machine, LoopTraffic } from './messages';

export const LEVELS = ['L1', 'L2', 'L3'] as const;

export interface Level {
  name: string;
  capacity: number;
  keeps: number[]; // places of the nodes that it keeps an iteration of
  moved: number;
}

/** Bytes that go through a memory of so many bytes: outermost iterations that fit are kept, the rest is touched anew. */
export function moved(nodes: LoopTraffic[], touches: number[], capacity: number): { bytes: number; keeps: number[] } {
  const inside = nodes.map(() => false);
  const keeps: number[] = [];
  const covered = new Set<number>();
  let bytes = 0;
  nodes.forEach(([parent, held, amount, statements], i) => {
    if (parent >= 0 && inside[parent]) {
      inside[i] = true;
    } else if (held <= capacity) {
      inside[i] = true;
      keeps.push(i);
      statements.forEach((n) => covered.add(n));
      bytes += amount;
    }
  });
  touches.forEach((amount, i) => {
    if (!covered.has(i)) bytes += amount;
  });
  return { bytes, keeps };
}

export function levels(nodes: LoopTraffic[], touches: number[], machine: Machine): Level[] {
  return LEVELS.map((name, i) => ({ name, capacity: machine.cache_bytes[i] }))
    .filter(({ capacity }) => capacity > 0)
    .map(({ name, capacity }) => {
      const found = moved(nodes, touches, capacity);
      return { name, capacity, keeps: found.keeps, moved: found.bytes };
    });
}

// Numbers as `viz.draw.quantities` says them in pictures: js/tests/quantities.json holds what both must say.
const BYTES: [scale: number, unit: string][] = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']]; // prettier-ignore
const COUNTS: [least: number, scale: number, unit: string][] = [[1e12, 1e12, 'T'], [1e9, 1e9, 'G'], [1e6, 1e6, 'M'], [1e4, 1e3, 'k']]; // prettier-ignore

export function bytes(n: number): string {
  const [scale, unit] = BYTES.find(([least]) => n >= least) ?? [1, 'B'];
  return `${short(n / scale)} ${unit}`;
}

export function count(n: number): string {
  const [, scale, unit] = COUNTS.find(([least]) => n >= least) ?? [0, 1, ''];
  return `${short(n / scale)} ${unit}`.trimEnd();
}

/** `12.3 GFLOP/s`. */
export function rate(n: number, unit: string): string {
  const [value, prefix = ''] = count(n).split(' ');
  return `${value} ${prefix}${unit}`;
}

/** Three digits, but all of a whole number's. */
function short(value: number): string {
  if (Number.isInteger(value) && value < 1e5) return String(value);
  return String(value < 999.5 ? Number(value.toPrecision(3)) : Math.round(value));
}
