import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concurrent, moments } from '../../src/state/moments';
import { box, program } from '../programs';

const matrix = (kinds: string[]) => program([{ points: box(3, 4), kinds }]);

test('serial loops take a moment for each instance', () => {
  const found = moments(matrix(['serial', 'serial']));
  assert.deepEqual([...found.clock[0]], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assert.equal(found.threads.length, 1);
});

test('threads of a parallel loop begin together', () => {
  const found = moments(matrix(['parallel', 'serial']));
  assert.deepEqual(found.threads, ['i = 0', 'i = 1', 'i = 2']);
  assert.deepEqual([...found.clock[0]], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
});

test('lanes of a vector are one moment', () => {
  const found = moments(matrix(['serial', 'vector']));
  assert.equal(found.table.length, 3);
  assert.deepEqual(found.table[1][0]?.rows, [4, 5, 6, 7]);
});

test('a serial loop around a parallel one makes regions, one after another', () => {
  const found = moments(matrix(['serial', 'parallel']));
  assert.equal(found.table.length, 3);
  assert.deepEqual([...found.clock[0]], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
});

test('a region begins when the last thread of the one before has ended', () => {
  const points = box(2, 2, 3).filter(([, j, k]) => j === 1 || k === 0);
  const found = moments(program([{ points, kinds: ['serial', 'parallel', 'serial'] }]));
  assert.deepEqual([...found.clock[0]], [0, 0, 1, 2, 3, 3, 4, 5]);
});

test('a thread that has less to do rests at the end', () => {
  const points = box(3, 3).filter(([i, j]) => j <= i);
  const found = moments(program([{ points, kinds: ['parallel', 'serial'] }]));
  assert.deepEqual(
    found.table.map((row) => row.filter(Boolean).length),
    [3, 2, 1],
  );
});

test('only parallel, bound and vector loops run anything at once', () => {
  assert.ok(!concurrent(matrix(['serial', 'unrolled'])));
  for (const kind of ['parallel', 'vector', 'block.x', 'thread.y']) assert.ok(concurrent(matrix(['serial', kind])), kind);
});
