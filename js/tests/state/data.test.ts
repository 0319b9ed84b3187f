import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Data } from '../../src/state/data';
import { box, program } from '../programs';

test('tables are read where they begin, also in a view of a longer buffer', () => {
  const whole = Int32Array.from([9, 9, 1, 2, 3, 4]);
  const data = new Data(program([]).domain, new DataView(whole.buffer, 8));
  assert.deepEqual(data.row([0, 2, 2], 1), [3, 4]);
  assert.equal(data.at([1, 1, 3], 0, 2), 4);
});

test('an instance is found by its coordinates, a stranger is not', () => {
  const data = program([{ points: box(3, 4) }]);
  assert.equal(data.find(0, [1, 2]), 6);
  assert.equal(data.find(0, [3, 0]), -1);
});

test('an axis is a dim, a loop, or what a loop counts', () => {
  const told = { dims: ['i'], points: [[5], [6]], loops: ['i_o'], times: [[1], [2]], counts: ['i / 4'] };
  const data = program([told]);
  const [own] = data.domain.statements;
  assert.equal(data.along(own, 'i')?.(1), 6);
  assert.equal(data.along(own, 'i_o')?.(1), 2);
  assert.equal(data.along(own, 'i / 4')?.(0), 1);
  assert.equal(data.along(own, 'k'), null);
  assert.equal(data.along(data.domain.statements[0], ''), null, 'no axis is not the loop that counts a plain dim');
});

test('a range spans all statements that have the dim', () => {
  const data = program([{ points: [[2], [3]] }, { points: [[-1], [1]] }, { dims: ['k'], points: [[90]] }]);
  assert.deepEqual(data.range('i', [0, 1, 2]), [-1, 3]);
  assert.deepEqual(data.range('z', [0, 1]), [0, 0]);
});

test('an instance is named as in mathematics', () => {
  assert.equal(program([{ name: 'C', points: box(2, 2) }]).named(0, 3), 'C(1, 1)');
});
