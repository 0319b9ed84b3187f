import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrowsOf, redOf } from '../../src/plot/arrows';
import { Frame } from '../../src/plot/frame';
import { beside, extent, inTime, lean, meant, selectionOf } from '../../src/plot/gestures';
import type { ToldArrow } from '../programs';
import { box, program } from '../programs';

const grid = (arrows: ToldArrow[] = []) => {
  const data = program([{ name: 'C', points: box(3, 3) }], arrows);
  return new Frame(data, data.domain.nests[0], { x: 'i', y: 'j', at: {} }, 600);
};
const drawn = { shownKinds: new Set(['flow', 'anti']), hiddenArrays: new Set<string>() };

test('a mark selects its first instance', () => {
  const frame = grid();
  assert.deepEqual(selectionOf(frame, frame.scene.marks[5]), { statement: 'C', instance: [1, 2] });
});

test('arrow keys go to the neighbour, at the rim to none', () => {
  const frame = grid();
  const middle = frame.near([1, 1]);
  assert.equal(beside(frame, middle, [1, 0]), frame.near([2, 1]));
  assert.equal(beside(frame, middle, [0, -1]), frame.near([1, 0]));
  assert.equal(beside(frame, frame.near([2, 1]), [1, 0]), null);
  assert.equal(beside(frame, null, [1, 0]), frame.scene.marks[0]);
});

test('arrow keys pass over holes', () => {
  const data = program([
    {
      points: [
        [0, 0],
        [4, 0],
        [1, 3],
      ],
    },
  ]);
  const frame = new Frame(data, data.domain.nests[0], { x: 'i', y: 'j', at: {} }, 600);
  assert.equal(beside(frame, frame.near([0, 0]), [1, 0]), frame.near([4, 0]));
});

test('n and p follow the order of execution, whatever the coordinates', () => {
  const data = program([{ points: box(4), when: [2, 0, 3, 1] }]);
  const frame = new Frame(data, data.domain.nests[0], { x: 'i', y: '', at: {} }, 600);
  const first = inTime(frame, null, 1);
  assert.equal(first?.x, 1);
  assert.equal(inTime(frame, first, 1)?.x, 3);
  assert.equal(inTime(frame, first, -1), null);
});

test('a drag counts both of its ends, in either direction', () => {
  assert.equal(extent(0.2, 2.9), 4);
  assert.equal(extent(2.9, 0.2), 4);
  assert.equal(extent(1.4, 0.6), 1);
});

test('a drag skews along the axis that it goes further on', () => {
  assert.deepEqual(lean([0, 0], [2.2, -0.8]), { across: true, factor: 2 });
  assert.deepEqual(lean([0, 0], [0.6, -3.1]), { across: false, factor: -3 });
});

test('a drag is about the statement below it, if that has both axes', () => {
  const data = program([
    { name: 'init', points: [[0], [1]] },
    { name: 'sum', points: box(2, 2) },
  ]);
  const frame = new Frame(data, data.domain.nests[0], { x: 'i', y: 'j', at: {} }, 600);
  assert.equal(meant(frame, [0, 1]), 'sum');
  assert.equal(meant(frame, [0, -1]), 'sum'); // init stands there, and has no j
});

test('arrows connect shown instances, of kinds and arrays that are not switched off', () => {
  const frame = grid([
    {
      kind: 'flow',
      array: 'A',
      source: 0,
      target: 0,
      pairs: [
        [0, 4],
        [1, 5],
      ],
    },
    { kind: 'anti', array: 'B', source: 0, target: 0, pairs: [[4, 8]] },
    { kind: 'output', array: 'A', source: 0, target: 0, pairs: [[0, 1]] },
  ]);
  assert.deepEqual(
    arrowsOf(frame, drawn).map((a) => a.kind),
    ['flow', 'flow', 'anti'],
  );
  assert.deepEqual(
    arrowsOf(frame, { ...drawn, hiddenArrays: new Set(['A']) }).map((a) => a.kind),
    ['anti'],
  );
});

test('an arrow bends where it would pass through a point, or lie on another', () => {
  const over = arrowsOf(
    grid([
      {
        kind: 'flow',
        array: 'A',
        source: 0,
        target: 0,
        pairs: [
          [0, 2],
          [0, 1],
        ],
      },
    ]),
    drawn,
  );
  assert.ok(over[0].bend > 0);
  assert.equal(over[1].bend, 0);
  const [first, second] = arrowsOf(
    grid([
      { kind: 'flow', array: 'A', source: 0, target: 0, pairs: [[0, 1]] },
      { kind: 'anti', array: 'A', source: 0, target: 0, pairs: [[0, 1]] },
    ]),
    drawn,
  );
  assert.notEqual(first.bend, second.bend);
});

test('two pairs between the same places are one arrow, and none leads to itself', () => {
  const found = arrowsOf(
    grid([
      {
        kind: 'flow',
        array: 'A',
        source: 0,
        target: 0,
        pairs: [
          [0, 1],
          [0, 1],
          [3, 3],
        ],
      },
    ]),
    drawn,
  );
  assert.equal(found.length, 1);
});

test('pairs in the wrong order are drawn where both instances are shown', () => {
  const wrong = {
    source: 'C',
    target: 'C',
    reason: 'order' as const,
    loop: 'i',
    kind: 'flow' as const,
    array: 'C',
    words: ['', ''] as [string, string],
    data: '',
  };
  const found = redOf(grid(), [
    {
      ...wrong,
      pairs: [
        [
          [0, 0],
          [1, 1],
        ],
        [
          [0, 0],
          [9, 9],
        ],
      ],
    },
    {
      ...wrong,
      source: 'D',
      pairs: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
  ]);
  assert.equal(found.length, 1);
  assert.equal(found[0].kind, 'bad');
});
