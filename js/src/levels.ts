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

export function bytes(n: number): string {
  if (n < 1024) return `${Math.round(n)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = n / 1024;
  let at = 0;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(2).replace(/\.?0+$/, '')} ${units[at]}`;
}

export function count(n: number): string {
  if (n < 1e4) return String(Math.round(n));
  const units = ['', 'k', 'M', 'G', 'T', 'P'];
  const at = Math.min(units.length - 1, Math.floor(Math.log10(n) / 3));
  return `${(n / 10 ** (3 * at)).toPrecision(3)}${units[at]}`;
}
