import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Views } from '../../src/state/messages';
import { State } from '../../src/state/state';
import { model, settled } from '../kernel';

test('a lazy view is asked for once, and again for another schedule', async () => {
  const { made, held, asked } = model({ view: () => null });
  const state = new State(made);
  assert.equal(state.lazy.view('warps'), undefined);
  assert.equal(state.lazy.view('warps'), undefined);
  assert.equal(asked.length, 1);
  held.past = { ...held.past!, place: 5 };
  state.lazy.view('warps');
  assert.equal(asked.length, 2);
  held.views = { warps: { reason: 'no threads' } } satisfies Views;
  assert.deepEqual(state.lazy.view('warps'), { reason: 'no threads' });
  await settled();
});

test('one view that is forgotten is asked for again, others are not', async () => {
  const { made, asked } = model({ view: () => null });
  const state = new State(made);
  state.lazy.view('assembly');
  state.lazy.view('footprint');
  state.lazy.forget('assembly');
  state.lazy.view('assembly');
  state.lazy.view('footprint');
  assert.deepEqual(
    asked.map((a) => a.with.name),
    ['assembly', 'footprint', 'assembly'],
  );
  await settled();
});

test('a gesture is judged once, and who asked is told', async () => {
  const { made, asked } = model({ judge: () => ({ text: '', legal: false }) });
  const state = new State(made);
  let told = 0;
  const look = () =>
    state.lazy.judge('tile', { width: 2 }, () => {
      told += 1;
    });
  assert.equal(look(), undefined);
  assert.equal(look(), undefined);
  await settled();
  assert.equal(look(), false);
  assert.deepEqual([asked.length, told], [1, 1]);
});

test('next steps are asked for in parts until there are no more', async () => {
  let left = 3;
  const { made, asked } = model({ offer: () => ({ more: (left -= 1) > 0 }) });
  await new State(made).lazy.offer({ seconds: 2 });
  assert.equal(asked.length, 3);
  assert.ok(asked.every((a) => a.with.seconds === 2 && typeof a.with.part === 'number'));
});

test('the search for next steps of a schedule ends when another is shown', async () => {
  const own = model({
    offer: () => {
      own.held.past = { ...own.held.past!, place: 9 };
      return { more: true };
    },
  });
  await new State(own.made).lazy.offer();
  assert.equal(own.asked.length, 1);
});
