import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gains, newest } from '../../src/schedule/history';
import type { Gained, Past } from '../../src/state/messages';

test('the newest steps stand first, each with its number', () => {
  assert.deepEqual(newest([]), []);
  assert.deepEqual(newest(['a', 'b']), [
    [2, 'b', { text: '', warns: false }],
    [1, 'a', { text: '', warns: false }],
  ]);
  const told = newest(['a', 'b', 'c', 'd', 'e', 'f']);
  assert.deepEqual(
    told.map(([nth]) => nth),
    [6, 5, 4, 3],
  );
  assert.equal(told[0][1], 'f');
  const remark = { text: 'sums in another order', warns: false };
  assert.deepEqual(newest(['a', 'b'], [{ text: '', warns: false }, remark])[0], [2, 'b', remark]);
});

test('what a step was to gain stands beside it, on the way that is shown and where its line has a time', () => {
  const gain = (expected: number): Gained => ({ expected, unmodelled: '', measured: null, since: '' });
  const moment = (parent: number | null, depth: number) => ({ text: '', parent, depth });
  const moments = [moment(null, 0), moment(0, 1), moment(1, 3), moment(0, 1)];
  const past: Past = { script: '', steps: ['a', 'b', 'c'], remarks: [], place: 2, undo: true, redo: false, moments };
  const told = gains(past, { gained: [null, null, gain(2), gain(7)] });
  assert.deepEqual([...told], [[3, 'expected 2.0×, the line before is not measured']]);
  assert.equal(gains(past, {}).size, 0);
});
