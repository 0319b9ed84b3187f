import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bytes, count, duration, numberOf, rate } from '../../src/tools/quantities';

test('one is one, and none is several', () => {
  assert.deepEqual(
    [0, 1, 2].map((n) => numberOf(n, 'parallel loop')),
    ['0 parallel loops', '1 parallel loop', '2 parallel loops'],
  );
  assert.equal(numberOf(2, 'family', 'families'), '2 families');
});

// tests/viz/draw/test_quantities.py asks the same of the pictures.
const said = JSON.parse(readFileSync('tests/tools/quantities.json', 'utf8')) as { bytes: [number, string][]; counts: [number, string][] };

test('bytes and counts are said as in pictures', () => {
  assert.deepEqual(
    said.bytes.map(([n]) => [n, bytes(n)]),
    said.bytes,
  );
  assert.deepEqual(
    said.counts.map(([n]) => [n, count(n)]),
    said.counts,
  );
});

test('a rate has its unit, with the prefix of its number', () => {
  assert.deepEqual(
    [512, 285.4e9, 1e12].map((n) => rate(n, 'FLOP/s')),
    ['512 FLOP/s', '285 GFLOP/s', '1 TFLOP/s'],
  );
});

test('durations are said with three digits in a fitting unit', () => {
  assert.deepEqual([3.2e-8, 4.12e-5, 1.5e-3, 0.25, 12.345].map(duration), ['32 ns', '41.2 us', '1.5 ms', '250 ms', '12.3 s']);
});
