import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placed, roomiest } from '../src/refusal';

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

const [left, right] = [
  { left: 0, top: 100, right: 400, bottom: 700 },
  { left: 410, top: 100, right: 700, bottom: 700 },
];

test('it stands over the largest place that is not under the mouse', () => {
  assert.deepEqual(roomiest([left, right], null), left);
  assert.deepEqual(roomiest([left, right], [500, 300]), left);
  assert.deepEqual(roomiest([left, right], [200, 120]), { ...left, top: 136 });
  assert.deepEqual(roomiest([left, right], [200, 400]), right);
});

test('with one place it takes the larger part above or below the mouse', () => {
  assert.deepEqual(roomiest([left], [200, 500]), { ...left, bottom: 484 });
});

test('there is none where it could not be read', () => {
  assert.equal(roomiest([{ left: 0, top: 0, right: 150, bottom: 900 }], null), null);
  assert.equal(roomiest([{ left: 0, top: 0, right: 900, bottom: 100 }], [300, 50]), null);
});
