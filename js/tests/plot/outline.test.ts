import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { XY } from '../../src/tools/geometry';
import { firstRun, hatching, outlines } from '../../src/plot/outline';

const area = (corners: XY[]): number =>
  corners.reduce((sum, [x, y], i) => {
    const [a, b] = corners[(i + 1) % corners.length];
    return sum + (x * b - a * y) / 2;
  }, 0);
const total = (borders: XY[][]): number => borders.reduce((sum, border) => sum + area(border), 0);

test('borders enclose as much as there are cells, less their holes', () => {
  const square: XY[] = [0, 1, 2].flatMap((x) => [0, 1, 2].map((y): XY => [x, y]));
  const ring = square.filter(([x, y]) => x !== 1 || y !== 1);
  assert.equal(total(outlines(square)), 9);
  assert.equal(outlines(square).length, 1);
  assert.equal(outlines(square)[0].length, 4);
  assert.equal(total(outlines(ring)), 8);
  assert.equal(outlines(ring).length, 2);
});

test('an outline that lies further inside encloses less, on all sides and in the holes', () => {
  const bend: XY[] = [
    [0, 0],
    [1, 0],
    [0, 1],
  ];
  assert.deepEqual(
    outlines(bend, 0.1)[0].map(([x, y]) => [x.toFixed(1), y.toFixed(1)].join()),
    [
      '-0.4,-0.4',
      '1.4,-0.4',
      '1.4,0.4',
      '0.4,0.4',
      '0.4,1.4',
      '-0.4,1.4', // prettier-ignore
    ],
  );
});

test('cells that meet in a corner have borders of their own', () => {
  assert.equal(
    outlines([
      [0, 0],
      [1, 1],
    ]).length,
    2,
  );
});

test('lines stay in their cell', () => {
  const lines = hatching([[3, -2]], 4);
  assert.ok(lines.length > 4);
  for (const [x, y] of lines.flat()) assert.ok(Math.abs(x - 3) <= 0.5 + 1e-9 && Math.abs(y + 2) <= 0.5 + 1e-9);
});

test('the first cells side by side are those of the upper row, up to a gap', () => {
  const cells: XY[] = [
    [4, 1],
    [1, 0],
    [2, 0],
    [4, 0],
  ];
  assert.deepEqual(firstRun(cells), [0.5, -0.5, 2.5, 0.5]);
});
