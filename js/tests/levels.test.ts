import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, count, levels, moved } from '../src/levels';
import type { LoopTraffic } from '../src/messages';

// Everything (1000 bytes, 1000 moved) ⊃ an outer loop (300, 4000) ⊃ an inner one (40, 9000), of statement 0; statement 1 stands beside.
const nodes: LoopTraffic[] = [
  [-1, 1000, 1000, [0, 1]],
  [0, 300, 4000, [0]],
  [1, 40, 9000, [0]],
];
const touches = [80_000, 500];

test('a memory that holds everything moves everything once', () => {
  assert.deepEqual(moved(nodes, touches, 1000), { bytes: 1000, keeps: [0] });
});

test('a smaller one keeps the outermost iteration that fits, and the rest is touched anew', () => {
  assert.deepEqual(moved(nodes, touches, 999), { bytes: 4500, keeps: [1] });
  assert.deepEqual(moved(nodes, touches, 40), { bytes: 9500, keeps: [2] });
});

test('one that holds no iteration moves every touch', () => {
  assert.deepEqual(moved(nodes, touches, 39), { bytes: 80_500, keeps: [] });
});

test('caches that a machine has not are left out', () => {
  const found = levels(nodes, touches, { vector_bits: 256, cache_bytes: [40, 0, 2000], line_bytes: 64 });
  assert.deepEqual(
    found.map(({ name, moved: through }) => [name, through]),
    [
      ['L1', 9500],
      ['L3', 1000],
    ],
  );
});

test('bytes are said with a unit and at most three digits', () => {
  assert.deepEqual([0, 1023, 1024, 1536, 48 << 10, 2 << 20, 10.5 * 2 ** 20].map(bytes), [
    '0 B',
    '1023 B',
    '1 KiB',
    '1.5 KiB',
    '48 KiB',
    '2 MiB',
    '10.5 MiB',
  ]);
});

test('999 units and a little are said in the next unit before they need a fourth digit', () => {
  assert.equal(bytes(1000 * 1024), '0.98 MiB');
});

test('counts are said with three digits from ten thousand on', () => {
  assert.deepEqual([0, 9999, 12_345, 2 * 1024 ** 3].map(count), ['0', '9999', '12.3k', '2.15G']);
});
