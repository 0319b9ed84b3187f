import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitted, moved, pair, plan, share } from '../../src/layout/layout';

const FIVE = ['domain', 'code', 'tree', 'steps', 'history'];
const placed = (width: number, shown = FIVE) => plan(shown, width).columns.map(({ panes }) => panes);

test('five panes stand in three columns where there is room, in two where there is less', () => {
  assert.deepEqual(placed(1400), [['domain'], ['code'], ['tree', 'steps', 'history']]);
  assert.deepEqual(placed(800), [
    ['domain', 'tree', 'history'],
    ['code', 'steps'],
  ]);
});

test('every pane has one place, in any width and any choice', () => {
  const all = [...FIVE, 'operator', 'trials', 'footprint', 'something new'];
  for (const width of [400, 800, 1400])
    for (let bits = 1; bits < 1 << all.length; bits += 7) {
      const shown = all.filter((_, i) => bits & (1 << i));
      const { above, columns, below } = plan(shown, width);
      assert.deepEqual([...above, ...columns.flatMap(({ panes }) => panes), ...below].sort(), [...shown].sort());
      assert.ok(columns.every(({ panes }) => panes.length));
    }
});

test('what is narrow, and what has neither picture nor code, is as high as it is', () => {
  assert.deepEqual(placed(400), []);
  assert.deepEqual(placed(1400, ['footprint', 'tree']), []);
});

test('a border that is moved gives to the one what it takes from the other, and each keeps something', () => {
  const ids = ['pictures', 'texts', 'moves'];
  const both = share({}, 'pictures') + share({}, 'texts');
  const after = moved({}, ids, [500, 500, 300], 0, 100);
  assert.ok(Math.abs(after.pictures / after.texts - 600 / 400) < 1e-9);
  assert.ok(Math.abs(after.pictures + after.texts - both) < 1e-9);
  assert.equal(after.moves, undefined);
  const far = moved({}, ids, [500, 500, 300], 1, -5000);
  assert.ok(far.texts > 0 && far.moves < share({}, 'texts') + share({}, 'moves'));
});

test('a panel takes what is left below its top where that is enough, else all that is seen', () => {
  const seen = { top: 100, bottom: 900 };
  assert.equal(fitted(seen, 150), 900 - 150 - 14);
  assert.equal(fitted(seen, 700), 800 - 28);
  assert.equal(fitted({ top: 90, bottom: 770 }, 270), 680 - 28); // 486 would cut pictures of two nests
  assert.equal(fitted(seen, -300), 800 - 28);
  assert.equal(fitted({ top: 0, bottom: 200 }, 0), 420);
});

test('a panel that is brought into view takes all that is seen, up to where pictures gain nothing any more', () => {
  const seen = { top: 100, bottom: 900 };
  for (const top of [100, 150, 700, -300]) assert.equal(fitted(seen, top, true), 800 - 28);
  assert.equal(fitted({ top: 0, bottom: 2100 }, 200, true), 1200);
});

test('a talk has two panes: those chosen last, else picture and code, else the first', () => {
  assert.deepEqual(pair(FIVE, []), ['domain', 'code']);
  assert.deepEqual(pair(FIVE, ['tree', 'code']), ['code', 'tree']);
  assert.deepEqual(pair(FIVE, ['warps', 'history']), ['domain', 'history']);
  assert.deepEqual(pair(['tree', 'steps', 'history'], []), ['tree', 'steps']);
});
