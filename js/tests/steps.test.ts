import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed, shortLoops, standing } from '../src/steps';

test('only one thing at a time is said to be looked for', () => {
  assert.equal(standing(false, false, 0), '', 'the list says that it asks which steps are legal');
  assert.equal(standing(false, true, 0), '', 'also where a search of another schedule has ended');
  assert.equal(standing(true, false, 0), 'looking for what gains most …');
  assert.match(standing(true, true, 0), /^by the model no step gains 5 %/);
  assert.equal(standing(true, true, 0, true), 'by the model no step gains 5 %: look below', 'what was measured need not be measured');
  assert.equal(standing(true, true, 2), 'modelled');
});

test('loops that no block divides are named', () => {
  assert.equal(shortLoops(['P/n', 'O/n']), 'no blocks of P/n, O/n: too few iterations');
  assert.equal(shortLoops(['a', 'b', 'c', 'd']), 'no blocks of a, b, c, d: too few iterations');
  assert.equal(shortLoops(['a', 'b', 'c', 'd', 'e']), 'no blocks of a, b, c and 2 others: too few iterations');
  assert.equal(shortLoops([]), '');
});

test('what most schedules are made of comes first', () => {
  assert.deepEqual(listed(['fuse', 'vectorize', 'affine', 'tile', 'tile']), ['tile', 'vectorize', 'affine', 'fuse']);
});
