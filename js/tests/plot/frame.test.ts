import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Frame, MARGIN, WHOLE } from '../../src/plot/frame';
import type { Look } from '../../src/plot/scene';
import { box, program } from '../programs';
import type { Told } from '../programs';

const framed = (told: Told[], space = 600, at: Look['at'] = {}) => {
  const data = program(told);
  const [nest] = data.domain.nests;
  return new Frame(data, nest, { x: nest.x, y: nest.y, at }, space);
};

test('a pixel and its place are each other’s inverse, also when the picture is moved and zoomed', () => {
  const frame = framed([{ points: box(5, 7) }]);
  const view = { k: 2.5, x: -31, y: 12 };
  const [px, py] = frame.at(3, 4);
  assert.deepEqual(frame.from([px, py], WHOLE).map(Math.round), [3, 4]);
  const [x, y] = frame.from([px * view.k + view.x, py * view.k + view.y], view);
  assert.ok(Math.abs(x - 3) < 1e-9 && Math.abs(y - 4) < 1e-9);
});

test('larger coordinates are to the right and below, as loops are read', () => {
  const frame = framed([{ points: box(5, 7) }]);
  assert.ok(frame.at(4, 0)[0] > frame.at(0, 0)[0]);
  assert.ok(frame.at(0, 6)[1] > frame.at(0, 0)[1]);
});

test('many places become small, so that the picture is no wider than its space, down to what can still be seen', () => {
  assert.ok(framed([{ points: box(200, 2) }], 500).width < 500.1);
  assert.equal(framed([{ points: box(2000, 2) }], 500).unit, 1.5);
});

test('few places do not become larger than a thumb', () => {
  assert.equal(framed([{ points: box(2, 2) }], 2000).unit, 64);
});

test('all points are inside the box between the margins', () => {
  const frame = framed([{ points: box(4, 6) }]);
  const { x, y, width, height } = frame.box();
  assert.deepEqual([x, y], [MARGIN.left, MARGIN.top]);
  for (const mark of frame.scene.marks) {
    const [px, py] = frame.place(mark);
    assert.ok(px > x && px < x + width && py > y && py < y + height);
  }
});

test('of statements that share a place the nearer one is found', () => {
  const frame = framed([{ points: box(3, 3) }, { points: box(3, 3) }]);
  const there = frame.scene.marks.filter((m) => m.x === 1 && m.y === 1);
  assert.equal(there.length, 2);
  for (const mark of there) assert.equal(frame.near([1 + mark.shift[0], 1 + mark.shift[1]]), mark);
});

test('where no point is none is found', () => {
  assert.equal(
    framed([
      {
        points: [
          [0, 0],
          [2, 2],
        ],
      },
    ]).near([1, 1]),
    null,
  );
});

test('a dim on no axis is held by its slider, or all its values are shown at one place', () => {
  const held = framed([{ points: box(2, 2, 5) }], 600, { k: 3 });
  assert.equal(held.instances, 4);
  const all = framed([{ points: box(2, 2, 5) }], 600, { k: null });
  assert.equal(all.scene.marks.length, 4);
  assert.equal(all.instances, 20);
});

test('the statement with the most dims is the largest', () => {
  assert.equal(
    framed([
      { name: 'init', points: box(3) },
      { name: 'sum', points: box(3, 3) },
    ]).largest.name,
    'sum',
  );
});
