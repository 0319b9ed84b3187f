import assert from 'node:assert/strict';
import { test } from 'node:test';
import { between } from '../../src/schedule/tree';

test('a row has a gap above and one below it', () => {
  assert.deepEqual(
    [101, 110, 119].map((y) => between(y, 100, 20)),
    ['before', 'on', 'after'],
  );
});
