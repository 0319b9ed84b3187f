import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, followed, scene, sliders } from '../../src/plot/scene';
import { box, program } from '../programs';

test('a dim on no axis gets a slider', () => {
  const data = program([{ points: box(2, 3, 4) }]);
  assert.deepEqual(sliders(data, data.domain.nests[0], { x: 'i', y: 'k', at: {} }), ['j']);
});

test('a dim that a shown loop counts gets none: its points would stand in one column', () => {
  const points = box(8);
  const tiled = { points, loops: ['i_o', 'i_i'], times: points.map(([i]) => [Math.floor(i / 4), i % 4]) };
  const data = program([tiled]);
  assert.deepEqual(sliders(data, data.domain.nests[0], { x: 'i_o', y: '', at: {} }), []);
});

test('the bounds are those of the shown instances', () => {
  const data = program([
    {
      points: [
        [2, 5],
        [4, 9],
      ],
    },
  ]);
  const { low, high } = scene(data, data.domain.nests[0], { x: 'i', y: 'j', at: {} });
  assert.deepEqual(
    [low, high],
    [
      [2, 5],
      [4, 9],
    ],
  );
});

test('a statement without an axis stands before the others, and after them if it runs later', () => {
  const first = program([
    { name: 'init', points: box(3) },
    { name: 'sum', points: box(3, 3) },
  ]);
  const before = scene(first, first.domain.nests[0], { x: 'i', y: 'j', at: {} });
  assert.deepEqual([...before.lanes[1]], [-1]);
  const last = program([
    { name: 'sum', points: box(3, 3) },
    { name: 'store', points: box(3) },
  ]);
  const after = scene(last, last.domain.nests[0], { x: 'i', y: 'j', at: {} });
  assert.deepEqual([...after.lanes[1]], [3]);
  assert.equal(after.high[1], 3);
});

test('statements move apart where they share places, and only then', () => {
  const apart = program([{ points: [[0, 0]] }, { points: [[1, 1]] }]);
  assert.ok(scene(apart, apart.domain.nests[0], { x: 'i', y: 'j', at: {} }).marks.every((m) => !m.shift[0] && !m.shift[1]));
  const shared = program([{ points: box(2, 2) }, { points: box(2, 2) }]);
  const shifts = new Set(scene(shared, shared.domain.nests[0], { x: 'i', y: 'j', at: {} }).marks.map((m) => m.shift.join()));
  assert.equal(shifts.size, 2);
  assert.equal(
    [...shifts].reduce((sum, shift) => sum + Number(shift.split(',')[0]), 0),
    0,
  );
});

test('one loop is one row, however many statements it has', () => {
  for (const told of [[{ points: box(7) }], [{ points: box(7) }, { points: box(7) }]]) {
    const data = program(told);
    const [nest] = data.domain.nests;
    assert.equal(nest.y, '');
    const { marks, low, high, lanes } = scene(data, nest, { x: 'i', y: '', at: {} });
    assert.ok(marks.every((mark) => mark.y === 0));
    assert.deepEqual(
      [low, high],
      [
        [0, 0],
        [6, 0],
      ],
    );
    assert.equal(lanes[1].size, 0);
  }
});

test('marks of a cell are as far apart as is said, in the cell, whatever their number', () => {
  for (let count = 1; count < 20; count += 1) {
    const data = program(Array.from({ length: count }, () => ({ points: box(2, 2) })));
    const { marks, apart } = scene(data, data.domain.nests[0], { x: 'i', y: 'j', at: {} });
    const own = marks.filter((m) => m.x === 0 && m.y === 0);
    assert.equal(own.length, count);
    own.forEach((a, i) =>
      own.slice(i + 1).forEach((b) => assert.ok(Math.hypot(a.shift[0] - b.shift[0], a.shift[1] - b.shift[1]) > apart - 1e-9)),
    );
    assert.ok(own.every(({ shift }) => Math.max(...shift.map(Math.abs)) < 0.5));
  }
});

test('an axis follows its loop when a step changes what that counts', () => {
  const nest = { statements: [0], x: 'i', y: 't', axes: ['i', 't'], counts: {} };
  const skewed = { ...nest, axes: ['i', 't', 'i + t'], counts: { 'i + t': 'i' } };
  assert.deepEqual(followed({ x: 'i', y: 't', at: {} }, nest, skewed), { x: 'i + t', y: 't', at: {} });
  assert.deepEqual(followed({ x: 'i + t', y: 't', at: {} }, skewed, nest), { x: 'i', y: 't', at: {} });
});

test('axes that are gone give way to those of the nest', () => {
  const nest = { statements: [0], x: 'm', y: 'n', axes: ['m', 'n'], counts: {} };
  assert.deepEqual(followed({ x: 'i', y: 'j', at: {} }, undefined, nest), { x: 'm', y: 'n', at: {} });
});

test('a statement with neither axis is not drawn, and what only it has gets no slider', () => {
  const data = program([
    { name: 'copy', dims: ['c', 'y'], points: box(2, 3) },
    { name: 'sum', dims: ['h', 'w', 'c'], points: box(3, 3, 2) },
  ]);
  const look = { x: 'w', y: 'h', at: { c: null } };
  const [nest] = data.domain.nests;
  assert.deepEqual([0, 1].map((n) => drawn(data, look, n)), [false, true]); // prettier-ignore
  assert.deepEqual(sliders(data, nest, look), ['c']);
  assert.deepEqual(new Set(scene(data, nest, look).marks.map(({ statement }) => statement)), new Set([1]));
  assert.ok(drawn(data, { ...look, x: 'y' }, 0));
});
