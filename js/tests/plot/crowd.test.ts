import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrowsOf, redOf } from '../../src/plot/arrows';
import { crowded, examples } from '../../src/plot/crowd';
import { Frame } from '../../src/plot/frame';
import { box, program } from '../programs';

const shown = { shownKinds: new Set(['flow', 'anti']), hiddenArrays: new Set<string>() };

/** A stencil over time, t × i: each point needs its neighbours of the time before, which it overwrites in turn. */
const stencil = (reach: number, space: number) => {
  const n = 7;
  const pairs: number[][] = [];
  for (let t = 0; t + 1 < n; t += 1)
    for (let i = 0; i < n; i += 1)
      for (let d = -reach; d <= reach; d += 1) if (i + d >= 0 && i + d < n) pairs.push([t * n + i, (t + 1) * n + i + d]);
  const both = (['flow', 'anti'] as const).map((kind) => ({ kind, array: 'A', source: 0, target: 0, pairs }));
  const data = program([{ name: 'A', dims: ['t', 'i'], points: box(n, n) }], both);
  const frame = new Frame(data, data.domain.nests[0], { x: 'i', y: 't', at: {} }, space);
  return { frame, arrows: arrowsOf(frame, shown), wrong: pairs };
};

test('arrows are crowded where more leave each point than there is room for, in a picture of that size', () => {
  const [small, large, few] = [stencil(1, 180), stencil(1, 900), stencil(0, 180)];
  assert.ok(crowded(small.frame, small.arrows));
  assert.ok(!crowded(large.frame, large.arrows));
  const flow = arrowsOf(few.frame, { ...shown, shownKinds: new Set(['flow']) });
  assert.ok(flow.length > 0 && !crowded(few.frame, flow), 'one arrow a point is a clear picture');
});

test('the point that stands for all has every distance, and is the one nearest to the middle', () => {
  const { frame, arrows } = stencil(1, 180);
  const found = [...examples(frame, arrows)];
  assert.deepEqual(new Set(found.map(({ source }) => `${source.x},${source.y}`)), new Set(['3,3']));
  assert.equal(found.length, 6, 'three distances of two kinds');
});

test('each statement with arrows has a point that stands for it, also where it is a single one', () => {
  const data = program(
    [
      { name: 'init', dims: ['i'], points: box(2) },
      { name: 'sum', dims: ['i', 'k'], points: box(2, 3) },
    ],
    [
      { kind: 'flow', array: 'A', source: 0, target: 1, pairs: [[0, 0], [1, 3]] }, // prettier-ignore
      { kind: 'flow', array: 'A', source: 1, target: 1, pairs: [[0, 1], [1, 2], [3, 4], [4, 5]] }, // prettier-ignore
    ],
  );
  const frame = new Frame(data, data.domain.nests[0], { x: 'k', y: 'i', at: {} }, 400);
  assert.deepEqual(new Set([...examples(frame, arrowsOf(frame, shown))].map(({ source }) => source.statement)), new Set([0, 1]));
});

test('of pairs in the wrong order as many are red as are asked for, and two between the same points once', () => {
  const { frame, wrong } = stencil(1, 180);
  const at = (row: number) => [Math.floor(row / 7), row % 7];
  const told = (kind: 'flow' | 'anti') => ({
    kind,
    array: 'A',
    source: 'A',
    target: 'A',
    reason: 'race',
    loop: 't',
    words: ['A(0,0)', 'A(1,0)'] as [string, string],
    pairs: wrong.map(([a, b]) => [at(a), at(b)] as [number[], number[]]),
  });
  const both = [told('flow'), told('anti')] as Parameters<typeof redOf>[1];
  assert.equal(redOf(frame, both).length, wrong.length);
  assert.equal(redOf(frame, both, 1).length, 1);
});
