import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Colours, keepsLine, keepsNode } from '../../src/state/kept_colours';
import { code, node } from '../programs';

const text = code([
  ['for i', ['init', 'sum'], 'i'],
  ['both', ['init', 'sum']],
  ['sum', ['sum']],
]);

test('the line of a loop gives the loop a colour, that of a statement the statement', () => {
  const colours = new Colours();
  colours.toggle({ line: 1 }, text);
  colours.toggle({ line: 3 }, text);
  assert.deepEqual(colours.kept, [
    { loop: 'i', statement: 'init', colour: 0 },
    { statement: 'sum', colour: 1 },
  ]);
});

test('a line of several statements gives none, and says what to select', () => {
  const colours = new Colours();
  assert.match(colours.toggle({ line: 2 }, text), /^select a line/);
  assert.equal(colours.kept.length, 0);
});

test('a colour that is taken away is given again', () => {
  const colours = new Colours();
  for (const statement of ['a', 'b', 'c']) colours.toggle({ statement }, text);
  colours.toggle({ statement: 'a' }, text);
  colours.toggle({ statement: 'd' }, text);
  assert.deepEqual(
    colours.kept.map((k) => [k.statement, k.colour]),
    [
      ['b', 1],
      ['c', 2],
      ['d', 0],
    ],
  );
});

test('a seventh colour is refused', () => {
  const colours = new Colours();
  for (const statement of 'abcdef') colours.toggle({ statement }, text);
  assert.match(colours.toggle({ statement: 'g' }, text), /^6 colours are taken/);
  assert.equal(colours.kept.length, 6);
});

test('what has a colour is known in texts and among the loops', () => {
  const loop = { loop: 'i', statement: 'sum', colour: 0 };
  assert.deepEqual(
    text.lines.map((line) => keepsLine(loop, line)),
    [true, false, false],
  );
  assert.deepEqual(
    text.lines.map((line) => keepsLine({ statement: 'sum', colour: 0 }, line)),
    [false, false, true],
  );
  assert.ok(keepsNode(loop, node('loop', 'i', ['init', 'sum'])));
  assert.ok(!keepsNode(loop, node('loop', 'i', ['init'])));
});
