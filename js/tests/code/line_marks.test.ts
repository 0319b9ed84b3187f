import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decorations, marked } from '../../src/code/line_marks';
import { code, program } from '../programs';

const { lines } = code([
  ['for (i)', []],
  ['a = 1;', ['a']],
  ['b = a;', ['b']],
]);
const at = (nth: number) => [0, 8, 15][nth];

test('what is lit is told with where it begins, and its key changes with it', () => {
  const none = marked(lines, new Set(), new Map(), at);
  assert.deepEqual([none.ranges.length, none.key, none.first], [0, '', undefined]);
  const lit = marked(lines, new Set([lines[1]]), new Map(), at);
  assert.equal(lit.first, 8);
  assert.notEqual(lit.key, none.key);
});

test('of lines beside one another with one kept colour the first is marked as the first', () => {
  const kept = marked(
    lines,
    new Set(),
    new Map([
      [lines[1], 2],
      [lines[2], 2],
    ]),
    at,
  );
  assert.deepEqual(
    kept.ranges.map(({ value }) => (value.spec as { class: string }).class),
    ['kept first', 'kept'],
  );
  assert.equal(kept.first, undefined, 'a kept colour is not lit');
});

test('a line says whose it is, and bears its number', () => {
  const { statements } = program([
    { name: 'a', points: [[0]] },
    { name: 'b', points: [[0]] },
  ]).domain;
  const found: string[] = [];
  decorations(lines, statements, false).between(0, 21, (_, __, value) => {
    const { class: name } = value.spec as { class?: string };
    if (name) found.push(name);
  });
  assert.deepEqual(found, ['line', 'line s0 ours', 'line s1 ours']);
});
