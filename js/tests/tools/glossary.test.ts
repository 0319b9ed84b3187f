import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explained, loopFor, madeOf } from '../../src/tools/glossary';

test('what a reason says is explained, and plain words are not', () => {
  assert.match(explained('16 lanes'), /^lanes: elements of a vector/);
  assert.equal(explained('2 threads, begun 512 times · ▼ 514 MiB → 20 MiB through L2').split('\n').length, 2);
  assert.equal(explained('for a GPU'), '');
});

test('an array that a step made is explained by what it was made of', () => {
  const known = ['A', 'A_own', 'A_tile', 'B_tile', 'B_own', 'x_own', 'C_rf'];
  assert.equal(madeOf('A_own', known), 'what one thread keeps of A, in registers');
  assert.equal(madeOf('B_tile', known), 'what a block of threads shares of B');
  assert.equal(madeOf('A', known), '');
  assert.equal(madeOf('x_own', known), '', 'somebody called it so');
});

test('loops over pieces of a copy are explained', () => {
  assert.notEqual(loopFor('piece'), '');
  assert.equal(loopFor('n'), '');
});
