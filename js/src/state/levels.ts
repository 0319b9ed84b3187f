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
