import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beside } from '../../src/graphs/figure';
import type { Place } from '../../src/state/messages';

const at = (id: string, x: number, y: number): Place => ({
  id,
  box: [x - 10, y - 5, 20, 10],
  words: id,
  details: [],
  opens: '',
  module: '',
});
const places = [at('top', 50, 0), at('left', 0, 60), at('right', 100, 60), at('below', 52, 120)];

test('the first arrow goes to the first place', () => {
  assert.equal(beside(places, null, [0, 1])?.id, 'top');
  assert.equal(beside([], null, [0, 1]), null);
});

test('an arrow goes to what lies straight ahead rather than aside', () => {
  assert.equal(beside(places, places[0], [0, 1])?.id, 'below');
  assert.equal(beside(places, places[1], [1, 0])?.id, 'right');
});

test('an arrow leads nowhere where nothing lies ahead', () => {
  assert.equal(beside(places, places[0], [0, -1]), null);
  assert.equal(beside(places, places[2], [1, 0]), null);
});

test('whatever lies ahead can be reached: going there and back ends where it began, or nearer', () => {
  for (const from of places) {
    const next = beside(places, from, [0, 1]);
    if (next) assert.ok(beside(places, next, [0, -1]), `${from.id} → ${next.id}`);
  }
});
