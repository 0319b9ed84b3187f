import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placed } from '../src/refusal';

const seen = { top: 100, bottom: 900 };

test('a refusal is at the top of what is seen where the mouse is below, or nowhere', () => {
  assert.equal(placed(seen, 60, 700), 108);
  assert.equal(placed(seen, 60, null), 108);
});

test('it is at the bottom where the mouse is above: nothing under the mouse is covered', () => {
  assert.equal(placed(seen, 60, 150), 832);
});

test('a bar that is higher than what is seen begins at its top', () => {
  assert.equal(placed(seen, 2000, 150), 108);
});
