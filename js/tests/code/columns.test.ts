import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TINTS, beginning, computing, doubled, tints, toggled } from '../../src/code/columns';
import { keyOf, usual } from '../../src/state/lazy_views';
import type { Line } from '../../src/state/messages';
import { code } from '../programs';

const line = (number: number, more: Partial<Line> = {}): Line => ({ number, runs: [], statements: [], loop: '', ...more });

test('a column is known by what it chose, in one order, and by nothing that is empty', () => {
  assert.equal(keyOf({ target: 'avx2', language: 'C', flags: '' }), '{"language":"C","target":"avx2"}');
  assert.equal(keyOf({ flags: '-O2', compiler: 'gcc', language: 'assembly' }), '{"compiler":"gcc","flags":"-O2","language":"assembly"}');
});

test('a column that chose nothing is the text that everybody has', () => {
  assert.ok(usual({ language: 'assembly', compiler: '' }));
  assert.ok(!usual({ language: 'assembly', compiler: 'gcc' }));
  assert.ok(!usual({ language: 'llvm-mca' }));
});

test('languages go on and off, stand in one order, and one language may stand there twice', () => {
  const two = toggled([{ language: 'assembly' }], 'C');
  assert.deepEqual(
    two.map(({ language }) => language),
    ['C', 'assembly'],
  );
  const three = doubled(two, 1);
  assert.equal(three.length, 3);
  assert.notEqual(three[1], three[2]);
  assert.deepEqual(toggled(three, 'assembly'), [{ language: 'C' }]);
});

test('a line and what was made from it have one tint, and what was made from nothing has none', () => {
  const source = tints([line(1), line(2, { statements: ['C'] }), line(2 + TINTS, { statements: ['C'] })], true);
  const made = tints([line(1, { of: 2 }), line(2, { of: 0 }), line(3, { of: 2 + TINTS })], false);
  assert.equal(source.has(1), false);
  assert.equal(made.get(1), source.get(2));
  assert.equal(made.has(2), false);
  assert.equal(made.get(3), made.get(1));
});

test('in a talk a text begins at its first loop, without declarations and without what asks whether to stop', () => {
  const stop = 'if (WB_STOPS != wb_began) break;';
  const text = code(
    [
      ['#include <stdint.h>', []],
      ['int f(float *A)', []],
      ['const unsigned wb_began = WB_STOPS;', []],
      ['for (i) {', ['A'], 'i'],
      [stop, []],
      ['A[i] = 0;', ['A']],
      ['}', []],
    ],
    1,
  );
  assert.deepEqual(
    computing(text).map(({ number }) => number),
    [4, 6, 7],
  );
  assert.deepEqual(
    computing(code([['return 0;', []]])).map(({ number }) => number),
    [1],
    'what has no loop is whole',
  );
});

test('names without a value, and what is set up where no statement runs, are left out of a talk; whatever computes stays', () => {
  const text = code([
    ['const int64_t m = blockIdx.x;', ['A'], 'm'],
    ['A[m] = 0;', ['A']],
    ['}', []],
    ['extern "C" __global__ void second(float *B)', []],
    ['{', []],
    ['    __shared__ __align__(16) float B_tile[1728];', []],
    ['    const bool wb_wide = (uint64_t)B % 16 == 0;', []],
    ['    (void)workspace;', []],
    ['    float B_own[4][2];', ['B']],
    ['    const int64_t x = threadIdx.x;', ['B'], 'x'],
    ['    B_own[0] = 1.0f;', ['B']],
    ['    wb_copies_commit();', []],
    ['    return 0;', []],
    ['}', []],
  ]);
  const kept = computing(text);
  assert.deepEqual(
    kept.map(({ number }) => number),
    [1, 2, 3, 4, 5, 10, 11, 12, 13, 14],
  );
  assert.equal(beginning(kept, ['B']), 5);
  assert.equal(beginning(kept, ['A', 'B']), 0);
  assert.equal(beginning(kept, ['not in this text']), 0);
});
