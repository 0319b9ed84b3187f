import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rank } from '../../src/trials/decision_chart';
import type { StudyData, TrialRow } from '../../src/state/messages';
import { Filter, fastest, named, said, soFar } from '../../src/trials/trial';
import { whole } from '../../src/trials/trial_charts';

const row = (number: number, seconds: number | null, places: number[], twin: number | null = null): TrialRow => [
  number,
  seconds === null ? 1 : 0,
  seconds,
  null,
  0,
  0,
  places,
  null,
  twin,
];

const study: StudyData = {
  name: 'matmul',
  state: 'finished',
  done: 4,
  budget: 4,
  outcomes: ['measured', 'wrong'],
  best: 2,
  speedup: 2,
  decisions: [
    { name: 'tile', options: ['8', '16'], ordered: true },
    { name: 'order', options: ['ij', 'ji'], ordered: false },
  ],
  trials: [row(0, 4e-3, [0, 0]), row(1, null, [1, 0]), row(2, 1e-3, [1, 1]), row(3, 2e-3, [0, 1], 2)],
  importance: [],
  ranking: [],
  baselines: [],
  flops: 0,
  ceilings: null,
  why: '',
  ranked: false,
  language: 'C',
};
const kept = (filter: Filter) =>
  named(study, filter)
    .filter((t) => t.kept)
    .map((t) => t.number);

test('without a filter every trial is kept', () => {
  assert.deepEqual(kept(new Filter()), [0, 1, 2, 3]);
});

test('a filter of an outcome, taken twice, is none again', () => {
  const filter = new Filter();
  filter.toggleOutcome(1);
  assert.deepEqual(kept(filter), [1]);
  filter.toggleOutcome(1);
  assert.ok(!filter.any);
});

test('options of one decision add up, those of several narrow', () => {
  const filter = new Filter();
  filter.toggleOption(0, 1);
  assert.deepEqual(kept(filter), [1, 2]);
  filter.toggleOption(1, 1);
  assert.deepEqual(kept(filter), [2]);
  filter.toggleOption(0, 0);
  assert.deepEqual(kept(filter), [2, 3]);
  filter.toggleOption(1, 1);
  assert.deepEqual(kept(filter), [0, 1, 2, 3]);
});

test('a factor keeps what is measured within so many times the best', () => {
  const filter = new Filter();
  filter.factor = 2;
  assert.deepEqual(kept(filter), [2, 3]);
  filter.clear();
  assert.deepEqual(kept(filter), [0, 1, 2, 3]);
});

test('the fastest is that of the best trial, infinite before there is one', () => {
  assert.equal(fastest(study), 1e-3);
  assert.equal(fastest({ ...study, best: null }), Infinity);
});

test('the best so far never rises, passes over failures and twins, and reaches to the last trial', () => {
  assert.deepEqual(soFar(named(study, new Filter())), [
    { number: 0, seconds: 4e-3 },
    { number: 2, seconds: 1e-3 },
    { number: 3, seconds: 1e-3 },
  ]);
});

test('a twin that is said to be faster than all is no best so far', () => {
  const trials = [row(0, 4e-3, [0, 0]), row(1, 1e-3, [0, 1], 0), row(2, 2e-3, [1, 1])];
  assert.deepEqual(soFar(named({ ...study, trials }, new Filter())), [
    { number: 0, seconds: 4e-3 },
    { number: 2, seconds: 2e-3 },
  ]);
});

test('a trial is said with its decisions, a failure by its outcome, a twin with its trial', () => {
  const trials = named(study, new Filter());
  assert.equal(said(trials[2], study), 'trial 2: 1 ms\ntile = 16\norder = ji');
  assert.ok(said(trials[1], study).startsWith('trial 1: wrong'));
  assert.ok(said(trials[3], study).includes('the schedule of trial 2'));
});

test('an ordered decision has its options by number, another as they were written', () => {
  assert.deepEqual(rank({ name: 'tile', options: ['64', '8', '16'], ordered: true }), [2, 0, 1]);
  assert.deepEqual(rank({ name: 'order', options: ['ji', 'ij'], ordered: false }), [0, 1]);
});

test('an axis of whole numbers has few of them, all within', () => {
  for (const last of [1, 7, 40, 999, 12_345]) {
    const ticks = whole([0, last], 10);
    assert.ok(ticks.length <= 11 && ticks.length > 1, String(last));
    assert.ok(ticks.every((t) => Number.isInteger(t) && t >= 0 && t <= last));
  }
});
