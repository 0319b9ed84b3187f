import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf } from '../../src/state/comparing';
import { State } from '../../src/state/state';
import { model } from '../kernel';
import { box, code, program } from '../programs';

test('a pin keeps code and traffic, and is taken off at the same place', async () => {
  const row = { loop: '', kind: '', depth: 0, parent: -1, held: 10, moved: 20, iterations: 1, statements: [0], arrays: [] };
  const { made } = model({}, { views: { footprint: { note: '', exact: true, flops: 1, touches: [7], rows: [row] } } });
  const state = new State(made);
  await state.comparing.pin(state.data);
  assert.deepEqual(state.pinned, { name: 'tile', place: 4, code: 'C = 1;', nodes: [[-1, 10, 20, [0]]], touches: [7], moments: 3 });
  await state.comparing.pin(state.data);
  assert.equal(state.pinned, null);
});

test('a pin where nothing is counted keeps no traffic', async () => {
  const { made } = model({}, { views: { footprint: { reason: 'sizes are open' } } });
  const state = new State(made);
  await state.comparing.pin(state.data);
  assert.deepEqual(state.pinned?.nodes, []);
});

test('a preview shows another domain, which closing it takes back', async () => {
  const after = program([{ name: 'D', points: box(1) }]);
  const tables = Buffer.from(after.numbers.buffer).toString('base64');
  const preview = () => ({ lines: ['x'], verdict: 'legal', domain: after.domain, tables, tree: [] });
  const state = new State(model({ preview }).made);
  await state.comparing.preview({ name: 'split' }, 'split(i)');
  assert.equal(state.data.named(0, 0), 'D(0)');
  state.closePreview();
  assert.equal(state.data.named(0, 0), 'C(0, 0)');
});

test('the text of a function begins where its code begins', () => {
  assert.equal(
    bodyOf(
      code(
        [
          ['#include', []],
          ['int f', []],
          ['}', []],
        ],
        1,
      ),
    ),
    'int f\n}',
  );
});
