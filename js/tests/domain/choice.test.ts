import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CROWD, choices, costliest, keyOf, oneAtATime, part } from '../../src/domain/choice';
import { shareOf } from '../../src/domain/chooser';
import { Data } from '../../src/state/data';
import { box, program } from '../programs';
import type { Told } from '../programs';

const anywhere = { rows: Infinity, columns: 2 };
const screen = { rows: 3, columns: 2 };
const crowd = (told: Told[]) => program(told);
const four: Told[] = [
  { name: 'load', points: box(2, 3), cost: 6 },
  { name: 'init', dims: ['i'], points: box(2), cost: 2 },
  { name: 'sum', dims: ['i', 'k'], points: box(2, 9), cost: 90 },
  { name: 'store', points: box(2, 3), cost: 2 },
];

test('of a nest in which many meet the statement that costs most is drawn', () => {
  const data = crowd(four);
  assert.ok(oneAtATime(data, anywhere));
  const all = choices(data);
  assert.deepEqual(
    all.map(({ names }) => names.length),
    [1, 1, 1, 1, 4],
  );
  const most = costliest(all);
  assert.deepEqual(most.names, ['sum']);
  assert.equal(most.share, 0.9);
  assert.ok(!most.whole && all[4].whole);
});

test('few statements are drawn together, and many nests one by one where there is one screen', () => {
  const few = crowd(four.slice(0, CROWD));
  assert.ok(!oneAtATime(few, screen));
  assert.deepEqual(
    choices(few).map(({ names }) => names),
    [['load', 'init', 'sum']],
  );
  const nests = Array.from({ length: 5 }, () => few.domain.nests[0]);
  const many = new Data({ ...few.domain, nests }, new DataView(few.numbers.buffer));
  assert.ok(oneAtATime(many, screen) && !oneAtATime(many, anywhere));
});

test('nests are drawn together as far as there is room for them', () => {
  const few = crowd(four.slice(0, 2));
  const three = new Data({ ...few.domain, nests: Array.from({ length: 3 }, () => few.domain.nests[0]) }, new DataView(few.numbers.buffer));
  assert.ok(!oneAtATime(three, { rows: 2, columns: 2 }) && !oneAtATime(three, { rows: 3, columns: 1 }));
  assert.ok(oneAtATime(three, { rows: 1, columns: 2 }) && oneAtATime(three, { rows: 2, columns: 1 }));
  assert.ok(!oneAtATime(few, { rows: 1, columns: 1 }), 'one nest is one nest');
});

test('a statement alone has axes of its own', () => {
  const data = crowd(four);
  const [nest] = data.domain.nests;
  assert.deepEqual([nest.x, nest.y], ['i', 'j']);
  const alone = part(data, nest, [2]);
  assert.deepEqual([alone.x, alone.y, alone.statements], ['i', 'k', [2]]);
  assert.ok(!alone.axes.includes('j'));
  const single = part(data, nest, [1]);
  assert.deepEqual([single.x, single.y], ['i', '']);
  assert.equal(keyOf(data, part(data, nest, [0, 3])), 'load,store');
});

test('what has no work at all is drawn as well', () => {
  const data = crowd(four.map((one) => ({ ...one, cost: 0 })));
  assert.equal(costliest(choices(data)).share, 0);
});

test('how much of all is seen says what is counted', () => {
  assert.equal(shareOf(0.494, 6, true), '1 of 6 shown: it costs most, 49 % of operations and accesses');
  assert.equal(shareOf(0.004, 6, false), '1 of 6 shown, under 1 % of operations and accesses');
});
