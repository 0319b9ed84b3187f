import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lit, walk } from '../../src/state/lighting';
import { box, code, node, program } from '../programs';

const points = box(2, 2);
const data = program([
  { name: 'init', points: box(2), accesses: [{ array: 'C', kind: 'write', cells: box(2) }] },
  {
    name: 'sum',
    points,
    accesses: [
      { array: 'C', kind: 'write', cells: points.map(([i]) => [i]) },
      { array: 'A', kind: 'read', cells: points },
    ],
  },
]);
const tree = [
  node(
    'loop',
    'i',
    ['init', 'sum'],
    [node('statement', 'init', ['init']), node('loop', 'j', ['sum'], [node('statement', 'sum', ['sum'])])],
  ),
];
const text = code([
  ['for i', ['init', 'sum'], 'i'],
  ['C = 0', ['init']],
  ['for j', ['sum'], 'j'],
  ['C += A', ['sum']],
  ['return', []],
]);

test('nothing selected lights nothing', () => {
  const found = lit({}, data, tree, text);
  for (const set of Object.values(found)) assert.equal((set as Set<unknown>).size, 0);
});

test('a line of a statement lights the statement, its node and all its instances', () => {
  const found = lit({ line: 4 }, data, tree, text);
  assert.deepEqual([...found.statements], ['sum']);
  assert.deepEqual([...found.lines], [4]);
  assert.deepEqual([...found.nodes], ['statement sum']);
  assert.deepEqual([...found.whole], [1]);
});

test('a line of a loop lights that loop alone', () => {
  assert.deepEqual([...lit({ line: 1 }, data, tree, text).nodes], ['loop i']);
});

test('a line of nothing, and one beyond the end, light no statement', () => {
  assert.equal(lit({ line: 5 }, data, tree, text).statements.size, 0);
  assert.equal(lit({ line: 50 }, data, tree, text).lines.size, 0);
});

test('a loop lights its lines and the statements in it', () => {
  const found = lit({ loop: 'j' }, data, tree, text);
  assert.deepEqual([...found.lines], [3]);
  assert.deepEqual([...found.statements], ['sum']);
});

test('an instance lights its row and the cells that it touches', () => {
  const found = lit({ statement: 'sum', instance: [1, 0] }, data, tree, text);
  assert.deepEqual([...(found.rows.get(1) ?? [])], [2]);
  assert.deepEqual([...found.reads], ['A(1, 0)']);
  assert.deepEqual([...found.writes], ['C(1)']);
  assert.equal(found.whole.size, 0);
});

test('a cell lights every instance of every statement that touches it', () => {
  const found = lit({ array: 'C', cell: [1] }, data, tree, text);
  assert.deepEqual([...(found.rows.get(0) ?? [])], [1]);
  assert.deepEqual([...(found.rows.get(1) ?? [])], [2, 3]);
});

test('a tree is walked from the outside in', () => {
  assert.deepEqual(
    [...walk(tree)].map((n) => n.name),
    ['i', 'init', 'j', 'sum'],
  );
});
