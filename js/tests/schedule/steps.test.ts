import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listed, shortLoops, standing, tally, traffic } from '../../src/schedule/steps';

const ALL = { complete: true, unmodelled: '' };

test('only one thing at a time is said to be looked for', () => {
  assert.equal(standing(false, null, 0), '', 'the list says that it asks which steps are legal');
  assert.equal(standing(false, ALL, 0), '', 'also where a search of another schedule has ended');
  assert.equal(standing(true, null, 0), 'looking for what gains most …');
  assert.match(standing(true, ALL, 0), /^by the model no step gains 5 %/);
  assert.equal(standing(true, ALL, 0, true), 'by the model no step gains 5 %: look below', 'what was measured need not be measured');
  assert.equal(standing(true, ALL, 2), 'modelled');
});

test('no step is said to gain nothing where no model has looked', () => {
  const onGpu = { complete: true, unmodelled: 'gains on a GPU are not modelled' };
  assert.equal(standing(true, onGpu, 0), 'gains on a GPU are not modelled: measure, or look below');
  assert.match(standing(true, { ...ALL, complete: false }, 0), /^by the model no step of those looked at in time gains 5 %/);
});

test('what is not known is not counted as refused, and a list that is not all looked at says so', () => {
  const step = (legal: boolean, known = true) => ({ legal, known });
  const legal = Array.from({ length: 6 }, () => step(true));
  assert.equal(tally(legal, false), '6');
  assert.equal(tally(legal.slice(4), true), '2 so far');
  assert.equal(tally([...legal, step(false)], false), '6 legal, 1 refused');
  assert.equal(tally([...legal, step(false), step(false, false)], false), '6 legal, 1 refused, 1 not known');
  assert.equal(tally([step(false, false)], true), '0 legal, 1 not known so far');
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

test('bytes in the list say what they are', () => {
  assert.equal(traffic(529 * 2 ** 20, 2 ** 20), '▲ 529 MiB through L1');
  assert.equal(traffic(2 ** 20, 2 ** 21), '▼ 1 MiB through L1');
  assert.equal(traffic(2 ** 20, 2 ** 20), '', 'as much as now');
  assert.equal(traffic(NaN, 2 ** 20), '');
});
