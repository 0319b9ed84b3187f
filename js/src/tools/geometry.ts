// The little geometry that pictures of integer points need.

import { form } from './palette';

export type XY = [number, number];

/** Corners of the convex hull (Andrew's monotone chain). */
export function hull(points: XY[]): XY[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const lower = chain(sorted);
  const upper = chain(sorted.reverse());
  return [...lower.slice(0, -1), ...upper.slice(0, -1)];
}

function chain(points: XY[]): XY[] {
  const found: XY[] = [];
  for (const p of points) {
    while (found.length > 1 && turn(found[found.length - 2], found[found.length - 1], p) <= 0) found.pop();
    found.push(p);
  }
  return found;
}

function turn(a: XY, b: XY, c: XY): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

export function gcd(a: number, b: number): number {
  return b ? gcd(b, a % b) : Math.abs(a);
}

/** The outline of each of six marker shapes, around the origin. */
export function marker(number: number, r: number): string {
  const d = r * 1.25;
  switch (form(number)) {
    case 1:
      return `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case 2:
      return `M0,${-d * 1.1}L${d * 1.1},0L0,${d * 1.1}L${-d * 1.1},0z`;
    case 3:
      return `M0,${-d}L${d},${d * 0.8}L${-d},${d * 0.8}z`;
    case 5:
      return `M${-d},0H${d}M0,${-d}V${d}`;
    default:
      return `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`;
  }
}

/** One number for a place with integer coordinates: maps of many places are quicker with it than with text. */
export const spot = (x: number, y: number): number => x * 0x200000 + y;
