import assert from 'node:assert/strict';
import { test } from 'node:test';
import { best, height, largest, stands } from '../../src/domain/filling';
import type { Needs } from '../../src/domain/filling';

const picture = (x: number, y: number, controls = 100): Needs => ({ places: [x, y], names: 24, controls });
const chosen = (all: Needs[], wide: number, high: number) => best(stands(all.length, wide), () => all, wide, high);

test('pictures of one row stand one below another, where two columns would halve them', () => {
  const all = [picture(12, 1, 28), picture(6, 1, 28), picture(12, 1, 28)];
  assert.equal(chosen(all, 440, 600).columns, 1);
});

test('in a low pane pictures stand side by side, in a high one below one another', () => {
  const all = [picture(9, 9), picture(7, 6)];
  assert.equal(chosen(all, 440, 300).columns, 2);
  assert.equal(chosen(all, 440, 900).columns, 1);
});

test('what is chosen stands beside where that makes pictures larger', () => {
  assert.deepEqual(chosen([picture(9, 9)], 600, 300), { columns: 1, beside: true });
  assert.deepEqual(chosen([picture(9, 9)], 440, 900), { columns: 1, beside: false });
});

test('all rows with their names and choices are as high as the pane, in which a place is no larger than it need be', () => {
  const all = [picture(9, 9), picture(7, 6), picture(5, 1)];
  for (const high of [700, 900, 1100])
    for (const stand of stands(3, 2400)) {
      const unit = largest(all, stand, 2400, high);
      const rows = all.map(({ places: [, y], names, controls }) => {
        const tall = y * unit + 60;
        return names + (stand.beside ? Math.max(tall, controls) : tall + controls);
      });
      const sum = stand.columns === 2 ? Math.max(rows[0], rows[1]) + rows[2] + 10 : rows[0] + rows[1] + rows[2] + 20;
      assert.ok(sum <= high + 1e-6 && (unit === 64 || sum > high - 1), `${sum} of ${high}`);
    }
  assert.equal(largest(all, { columns: 1, beside: false }, 2400, 100), 0);
});

test('a picture is no lower than something is seen in', () => {
  assert.equal(height([9, 9], 0), 150);
  assert.equal(height([9, 1], 0), 70);
  assert.equal(height([9, 9], 20), 240);
});

test('where not all can be seen at once as much is seen as may be', () => {
  const all = [picture(8, 6, 130), picture(6, 6, 130), picture(6, 6, 130)];
  assert.deepEqual(chosen(all, 460, 400), { columns: 1, beside: true });
});
