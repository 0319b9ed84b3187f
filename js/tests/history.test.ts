import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newest } from '../src/history';

test('the newest steps stand first, each with its number', () => {
  assert.deepEqual(newest([]), []);
  assert.deepEqual(newest(['a', 'b']), [
    [2, 'b', ''],
    [1, 'a', ''],
  ]);
  const told = newest(['a', 'b', 'c', 'd', 'e', 'f']);
  assert.deepEqual(
    told.map(([nth]) => nth),
    [6, 5, 4, 3],
  );
  assert.equal(told[0][1], 'f');
  assert.deepEqual(newest(['a', 'b'], ['', 'sums in another order'])[0], [2, 'b', 'sums in another order']);
});
