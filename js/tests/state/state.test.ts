import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../src/state/kernel';
import type { Model } from '../../src/state/kernel';
import type { Selection, Traits, Views } from '../../src/state/messages';
import { State, same } from '../../src/state/state';
import { bodyOf } from '../../src/state/comparing';
import { box, code, program } from '../programs';

interface Asked {
  ask: string;
  name: string;
  with: Record<string, unknown>;
}

/** A model whose kernel answers by a table, at once. */
function model(answers: Record<string, (given: Record<string, unknown>) => unknown> = {}, traits: Partial<Traits> = {}) {
  const data = program([{ name: 'C', points: box(2, 3), kinds: ['parallel', 'serial'] }]);
  const held: Partial<Traits> = {
    domain: data.domain,
    tables: new DataView(data.numbers.buffer),
    machine: { vector_bits: 256, cache_bytes: [1, 2, 3], line_bytes: 64 },
    selection: {},
    views: {},
    tree: [],
    code: code(
      [
        ['void f()', []],
        ['C = 1;', ['C']],
      ],
      1,
    ),
    past: { script: '', steps: ['tile'], remarks: [{ text: '', warns: false }], place: 4, undo: true, redo: false, moments: [] },
    ...traits,
  };
  const heard = new Set<(message?: unknown) => void>();
  const asked: Asked[] = [];
  const saved: Partial<Traits>[] = [];
  const made: Model = {
    get: (name) => held[name]!,
    set: (name, value) => {
      held[name] = value;
    },
    save_changes: () => {
      saved.push({ ...held });
    },
    on: (_, callback) => {
      heard.add(callback);
    },
    off: (_, callback) => {
      heard.delete(callback);
    },
    send: (content) => {
      const question = content as Asked;
      asked.push(question);
      queueMicrotask(() => {
        const answer = answers[question.name];
        const said = answer ? { result: answer(question.with) } : { error: `no such question: ${question.name}` };
        for (const hear of [...heard]) hear({ answer: question.ask, ...said });
      });
    },
  };
  return { made, held, heard, asked, saved };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 1));

test('a question is answered by the message that bears its number', async () => {
  const { made, heard } = model({ judge: () => ({ text: 'tile', legal: true }) });
  const waiting = ask(made, 'judge', { name: 'tile', given: {} });
  for (const hear of heard) hear({ answer: 'another', result: 'not mine' });
  for (const hear of heard) hear();
  assert.deepEqual(await waiting, { text: 'tile', legal: true });
  assert.equal(heard.size, 0);
});

test('what the kernel refuses is an error with its words', async () => {
  await assert.rejects(ask(model().made, 'undo', {}), /^Error: no such question: undo$/);
});

test('a refusal is said, and the answer is undefined; the pane is not busy any more', async () => {
  const state = new State(model().made);
  const said: string[] = [];
  const busy: boolean[] = [];
  state.onSay((text) => said.push(text));
  state.onBusy((now) => busy.push(now));
  assert.equal(await state.answer('undo', {}), undefined);
  assert.deepEqual(said, ['no such question: undo']);
  assert.deepEqual(busy, [true, false]);
});

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

test('the kernel hears of the machine when the hand lets go', () => {
  const { made, held, saved } = model();
  const state = new State(made);
  state.setMachine({ vector_bits: 512 }, false);
  assert.deepEqual([state.machine.vector_bits, held.machine?.vector_bits, saved.length], [512, 256, 0]);
  state.setMachine({ line_bytes: 128 }, true);
  assert.deepEqual(held.machine, { vector_bits: 512, cache_bytes: [1, 2, 3], line_bytes: 128 });
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

test('values are the same by what they hold', () => {
  assert.ok(same({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }));
  assert.ok(!same({ a: [1] }, { a: [1, 2] }));
});
