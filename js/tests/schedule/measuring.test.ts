import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, cameOf, factor, gainOf, line, words } from '../../src/schedule/measuring';
import type { Timing } from '../../src/state/messages';

const timing = (more: Partial<Timing>): Timing => ({
  outcome: 'measured',
  seconds: 2.24e-5,
  lower: 2.2e-5,
  upper: 2.3e-5,
  threads: 2,
  naive: { times: 12.53, lower: 12.2, upper: 13, threads: 1 },
  numpy: { times: 0.614, lower: 0.6, upper: 0.65, threads: 2 },
  words: '',
  hardware: '',
  ...more,
});

test('a factor has as many digits as one reads', () => {
  assert.deepEqual([0.0614, 0.614, 0.998, 1, 12.53, 1234.5].map(factor), ['0.061×', '0.614×', '0.998×', '1.00×', '12.5×', '1235×']);
});

test('a time stands before what it is compared with, each with its threads and what the spread leaves open', () => {
  assert.equal(
    words(line(timing({}))),
    '22.4 us on 2 threads · 12.5× naive on 1 thread (12.2 to 13.0) · 0.614× NumPy on 2 threads (0.600 to 0.650)',
  );
});

test('without spreads and threads, in little room, the time and both factors are left', () => {
  const short = words(line(timing({})).filter(([, kind]) => !kind));
  assert.equal(short, '22.4 us · 12.5× naive · 0.614× NumPy');
  const fewer = words(line(timing({})).filter(([, kind]) => kind !== 'spread'));
  assert.equal(fewer, '22.4 us on 2 threads · 12.5× naive on 1 thread · 0.614× NumPy on 2 threads');
});

test('what was expected of a step stands beside what was measured; where the model or the clock has nothing, that is said', () => {
  const measured = { times: 1.834, lower: 1.7, upper: 1.9, threads: 1 };
  const said = (expected: number | null, unmodelled: string, by: typeof measured | null, since = '') =>
    words(gainOf({ expected, unmodelled, measured: by, since }));
  assert.equal(said(35.2, '', measured, 'naive'), 'expected 35×, measured 1.8× (1.70 to 1.90) since naive');
  assert.equal(said(2.13, '', measured), 'expected 2.1×, measured 1.8× (1.70 to 1.90)');
  assert.equal(said(1.001, '', measured), 'expected 1.0×, measured 1.8× (1.70 to 1.90)');
  assert.equal(
    said(null, 'gains on a GPU are not modelled', measured),
    'expected: gains on a GPU are not modelled, measured 1.8× (1.70 to 1.90)',
  );
  assert.equal(said(12.7, '', null), 'expected 13×, the line before is not measured');
});

test('threads that are the same for all are said once', () => {
  const [naive, numpy] = [4, 2].map((times) => ({ times, lower: 1, upper: 5, threads: 1 }));
  assert.equal(
    words(line(timing({ threads: 1, naive, numpy }))),
    '1 thread: 22.4 us · 4.00× naive (1.00 to 5.00) · 2.00× NumPy (1.00 to 5.00)',
  );
});

test('what runs on a GPU has no threads of the processor', () => {
  assert.equal(words(line(timing({ threads: 0, naive: null, numpy: null }))), '22.4 us');
});

test('the naive schedule is not compared with itself, nor with what is not known yet', () => {
  assert.equal(words(line(timing({ threads: 1, naive: null, numpy: null }))), '22.4 us on 1 thread');
});

test('what went wrong is said in the place of a time', () => {
  assert.deepEqual(cameOf(timing({ outcome: 'timed out', seconds: null })), { time: [['✕ timed out']], factors: [] });
});

test('nothing was measured of a moment that is new, or where nobody measured', () => {
  assert.equal(at({}, 0), null);
  assert.equal(at({ moments: [timing({})] }, 1), null);
  assert.equal(at({ moments: [timing({})] }, 0)?.outcome, 'measured');
});
