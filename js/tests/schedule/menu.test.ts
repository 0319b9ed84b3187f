import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORTH, because, beside, best, gained, lengthOf } from '../../src/schedule/menu';
import type { Choice } from '../../src/state/messages';

const choice = (text: string, gain: number, more: Partial<Choice> = {}): Choice => ({
  text,
  kind: text.split('(')[0],
  step: {},
  legal: true,
  reason: '',
  gain,
  why: [],
  warns: false,
  ...more,
});

test('a gain is said with two digits, and not where there is none', () => {
  assert.deepEqual([12.4, 3.24, 1.06, 1.04, 1.004, 0.98, 0.52, 0.046].map(gained), [
    '12×',
    '3.2×',
    '1.1×',
    '',
    '',
    '0.98×',
    '0.52×',
    '0.05×',
  ]);
});

test('a legal step says what it gains by, a refused one the instances that prove it', () => {
  assert.equal(because(choice('a()', 2, { why: ['8 lanes', '▼ 2 MiB → 1 MiB through L2'] })), '8 lanes · ▼ 2 MiB → 1 MiB through L2');
  assert.equal(because(choice('a()', 2, { legal: false, reason: 'would race on C: C(0) → C(1)' })), 'would race on C: C(0) → C(1)');
});

test('one begins with the best step of each kind, never with one that gains nothing or is refused', () => {
  const steps = [
    choice('tile(a)', 3),
    choice('tile(b)', 2.5),
    choice('fuse(a)', 2),
    choice('bad(a)', 4, { legal: false }),
    choice('split(a)', 1),
    choice('skew(a)', 1 + WORTH / 2),
  ];
  assert.deepEqual(
    best(steps, 4).map(({ text }) => text),
    ['tile(a)', 'fuse(a)'],
  );
  assert.equal(best(steps, 1).length, 1);
});

test('a loop that no block divides says so', () => {
  assert.equal(lengthOf({ loop: 'kh', iterations: 1, sizes: [] }), '1 iteration, too few for blocks of whole vectors');
  assert.equal(lengthOf({ loop: 'm', iterations: 512, sizes: [[16, '1 vector']] }), '512 iterations');
});

test('a menu stays within what is seen', () => {
  assert.equal(beside(100, 50, 4, 400), 100);
  assert.equal(beside(390, 50, 4, 400), 350);
  assert.equal(beside(100, 900, 4, 400), 4);
});
