import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gcd, hull, marker, spot } from '../../src/tools/geometry';
import type { XY } from '../../src/tools/geometry';

const cross = (a: XY, b: XY, c: XY) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

test('a hull leaves out what is inside or on an edge', () => {
  const points: XY[] = [
    [0, 0],
    [4, 0],
    [4, 3],
    [0, 3],
    [2, 1],
    [2, 0],
    [4, 2],
  ];
  assert.deepEqual(hull(points), [
    [0, 0],
    [4, 0],
    [4, 3],
    [0, 3],
  ]);
});

test('a hull turns one way and has every point on its inner side', () => {
  const points = Array.from({ length: 60 }, (_, i): XY => [(i * 37) % 23, (i * 53) % 19]);
  const corners = hull(points);
  corners.forEach((a, i) => {
    const b = corners[(i + 1) % corners.length];
    for (const p of points) assert.ok(cross(a, b, p) >= 0, `${p.join()} is beyond ${a.join()} → ${b.join()}`);
  });
});

test('a hull of fewer than three points is those points', () => {
  assert.deepEqual(
    hull([
      [2, 1],
      [1, 1],
    ]),
    [
      [1, 1],
      [2, 1],
    ],
  );
});

test('the greatest common divisor is never negative', () => {
  assert.equal(gcd(-12, 18), 6);
  assert.equal(gcd(12, -18), 6);
  assert.equal(gcd(0, -5), 5);
});

test('places have numbers of their own, also below zero', () => {
  const seen = new Set<number>();
  for (let x = -40; x <= 40; x += 1) for (let y = -40; y <= 40; y += 1) seen.add(spot(x, y));
  assert.equal(seen.size, 81 * 81);
});

test('six markers have five outlines of their own, and the next round begins with another', () => {
  const outlines = [0, 1, 2, 3, 5].map((n) => marker(n, 4));
  assert.equal(new Set(outlines).size, 5);
  assert.equal(marker(6, 4), marker(1, 4));
  assert.notEqual(marker(7, 4), marker(1, 4));
});
