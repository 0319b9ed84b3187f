import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clash, leastCovering, roomiest } from '../../src/schedule/refusal';

const seen = { left: 0, top: 100, right: 800, bottom: 900 };
const picture = { left: 0, top: 300, right: 800, bottom: 896 };

test('a refusal without a place of its own covers neither picture nor mouse where that can be', () => {
  const top = leastCovering(seen, 60, [picture], null);
  assert.ok(top >= 108 && top + 60 <= 300);
  const below = leastCovering(seen, 60, [picture], [400, 130]);
  assert.ok(below > 130 + 8 && below + 60 <= 300);
});

test('the mouse comes before the picture', () => {
  const top = leastCovering(seen, 150, [picture], [400, 200]);
  assert.ok(top >= 208);
});

test('a bar that is higher than what is seen begins at its top', () => {
  assert.equal(leastCovering(seen, 2000, [], null), 108);
});

test('where nothing has to be seen it is at the bottom', () => {
  assert.equal(leastCovering(seen, 60, [], null), 832);
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

test('two instances of which data decide whether they meet may depend on one another', () => {
  const wrong = { reason: 'race', array: 'h', loop: 'i', data: '' } as const;
  assert.equal(clash(wrong, ['reduction']), 'would run at once: reduction of h, loop i');
  assert.equal(
    clash({ ...wrong, data: ', if bin(0) = bin(1)' }, ['reduction']),
    'may depend on one another and would run at once: reduction of h, loop i, if bin(0) = bin(1)',
  );
});
