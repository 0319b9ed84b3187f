import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberOf } from '../../src/tools/counts';

test('one is one, and none is several', () => {
  assert.deepEqual(
    [0, 1, 2].map((n) => numberOf(n, 'parallel loop')),
    ['0 parallel loops', '1 parallel loop', '2 parallel loops'],
  );
  assert.equal(numberOf(2, 'family', 'families'), '2 families');
});
