import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Selection } from '../../src/state/messages';
import { State, same } from '../../src/state/state';
import { model } from '../kernel';

test('what is selected twice is let go', () => {
  const { made, held, saved } = model();
  const state = new State(made);
  const chosen: Selection = { statement: 'C', instance: [1, 2] };
  state.select(chosen);
  assert.deepEqual(held.selection, chosen);
  state.select({ ...chosen });
  assert.deepEqual(held.selection, {});
  assert.equal(saved.length, 2);
});

test('panes are told once of what the mouse is over', () => {
  const state = new State(model().made);
  let times = 0;
  state.onLight(() => {
    times += 1;
  });
  state.hover({ statement: 'C' });
  state.hover({ statement: 'C' });
  state.hover(null);
  assert.equal(times, 2);
});

test('what is lit is worked out anew only when something changed', () => {
  const { made, held } = model();
  const state = new State(made);
  const before = state.lit;
  assert.equal(state.lit, before);
  held.selection = { statement: 'C' };
  assert.deepEqual([...state.lit.statements], ['C']);
});

test('time counts instances, or moments of all threads', () => {
  const state = new State(model().made);
  assert.equal(state.when(0, 4), 4);
  state.together = true;
  assert.equal(state.when(0, 4), 1);
});

test('the kernel hears of the machine when the hand lets go', () => {
  const { made, held, saved } = model();
  const state = new State(made);
  state.setMachine({ vector_bits: 512 }, false);
  assert.deepEqual([state.machine.vector_bits, held.machine?.vector_bits, saved.length], [512, 256, 0]);
  state.setMachine({ line_bytes: 128 }, true);
  assert.deepEqual(held.machine, { vector_bits: 512, cache_bytes: [1, 2, 3], line_bytes: 128 });
});

test('values are the same by what they hold', () => {
  assert.ok(same({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }));
  assert.ok(!same({ a: [1] }, { a: [1, 2] }));
});
