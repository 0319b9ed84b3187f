import assert from 'node:assert/strict';
import { test } from 'node:test';
import { divided, example, numbering } from '../../src/plot/divided';
import type { Region } from '../../src/plot/divided';
import { Frame } from '../../src/plot/frame';
import { Labels } from '../../src/plot/labels';
import { firstRun, outlines } from '../../src/plot/outline';
import { placed } from '../../src/plot/within';
import { box, program } from '../programs';
import type { Told } from '../programs';

const framed = (told: Told[], at: Record<string, number | null> = {}, space = 600) => {
  const data = program(told);
  const [nest] = data.domain.nests;
  return new Frame(data, { ...nest, x: 'j', y: 'i' }, { x: 'j', y: 'i', at }, space);
};

/** i and j of `count` cells each way in blocks of `size`, whose places are threads (y, x) of the block. */
const grid = (count: number, size: number): Told => {
  const points = box(count, count);
  const cut = ([i, j]: number[]) => [Math.floor(i / size), Math.floor(j / size), i % size, j % size];
  return {
    points,
    dims: ['i', 'j'],
    loops: ['i_o', 'j_o', 'i_i', 'j_i'],
    kinds: ['block.y', 'block.x', 'thread.y', 'thread.x'],
    tiled: 2,
    times: points.map(cut),
  };
};

test('blocks and threads are numbered x before y, and a tile that is a block is none of its own', () => {
  const found = divided(framed([grid(4, 2)]));
  assert.deepEqual(
    found.blocks.map(({ label }) => label),
    ['(0,0)', '(1,0)', '(0,1)', '(1,1)'],
  );
  assert.deepEqual(found.blocks[1].cells, [[2, 0], [3, 0], [2, 1], [3, 1]]); // prettier-ignore
  assert.equal(found.threads.length, 16);
  assert.equal(found.threads.find(({ cells }) => cells[0].join() === '3,2')?.label, 'thread (1,0)');
  assert.deepEqual(found.tiles, []);
});

test('a block holds tiles, a thread several places, and the thread with the most stands for all', () => {
  const points = box(4, 8);
  const times = points.map(([i, j]) => [Math.floor(j / 4), Math.floor((j % 4) / 2), i, j % 2]);
  const loops = ['j_o', 'j_t', 'i', 'j_i'];
  const found = divided(framed([{ points, dims: ['i', 'j'], loops, kinds: ['block.x', 'serial', 'thread.x', 'serial'], tiled: 2, times }]));
  assert.deepEqual([found.blocks.length, found.threads.length, found.tiles.length], [2, 8, 4]);
  assert.equal(example(found)?.label, 'thread (0)');
  assert.deepEqual(example(found)?.cells, [[0, 0], [1, 0], [2, 0], [3, 0]]); // prettier-ignore
});

test('loops that begin elsewhere, also at another place in each block, are counted from 0', () => {
  const points = box(3, 5).filter(([i, j]) => j > i);
  const data = program([{ points, kinds: ['block.x', 'thread.x'], times: points.map(([i, j]) => [i + 7, j]) }]);
  const numbers = numbering(data);
  assert.deepEqual(numbers.block(0, 0)?.index, [0]);
  const first = points.findIndex(([i]) => i === 2);
  assert.deepEqual([numbers.block(0, first)?.label, numbers.thread(0, first)?.label], ['(2)', 'thread (0)']);
});

test('each iteration of a serial loop around the blocks has blocks of its own', () => {
  const points = box(3, 4);
  const found = divided(framed([{ points, kinds: ['serial', 'block.x'], tiled: 0 }]));
  assert.deepEqual(
    found.blocks.map(({ label, cells }) => [label, cells.length]),
    points.map(([, j]) => [`(${j})`, 1]).sort(([a], [b]) => String(a).localeCompare(String(b))),
  );
  const inside = divided(framed([{ points, kinds: ['block.x', 'serial'] }]));
  assert.equal(inside.blocks.length, 3, 'a serial loop inside divides no block');
});

test('threads of a parallel loop are named by it, and no block is drawn', () => {
  const found = divided(framed([{ points: box(3, 4), kinds: ['parallel', 'serial'] }]));
  assert.deepEqual(
    found.threads.map(({ label }) => label),
    ['thread i=0', 'thread i=1', 'thread i=2'],
  );
  assert.deepEqual(found.blocks, []);
});

test('where each block has one thread no threads are told apart, nor where there is one in all', () => {
  assert.deepEqual(divided(framed([{ points: box(3, 4), kinds: ['block.x', 'serial'] }])).threads, []);
  assert.deepEqual(divided(framed([{ points: box(1, 4), kinds: ['thread.x', 'serial'] }])).threads, []);
});

test('blocks that are seen at the same places are one, with the first index and the last', () => {
  const [points, loops] = [box(2, 3, 4), ['k', 'i', 'j']];
  const told: Told = {
    points,
    dims: ['i', 'j', 'k'],
    loops,
    kinds: ['block.x', 'serial', 'serial'],
    times: points.map(([i, j, k]) => [k, i, j]),
  };
  const [all, one] = [divided(framed([told], { k: null })), divided(framed([told], { k: 1 }))];
  assert.deepEqual(
    all.blocks.map(({ label, keys }) => [label, keys.size]),
    [['(0) … (3)', 4]],
  );
  assert.deepEqual(
    one.blocks.map(({ label }) => label),
    ['(1)'],
  );
});

test('statements in the same loops share blocks; nothing is divided where nothing is bound or tiled', () => {
  const [a, b] = [grid(4, 2), grid(4, 2)];
  const found = divided(framed([{ ...a, name: 'init' }, b]));
  assert.deepEqual([found.blocks.length, found.blocks[0].statements.size], [4, 2]);
  assert.deepEqual(divided(framed([{ points: box(3, 3) }])), { blocks: [], threads: [], tiles: [] });
});

test('labels meet no other, stay in the picture, and are left out where there is no room', () => {
  for (const space of [110, 160, 260, 600]) {
    const frame = framed([grid(8, 2)], {}, space);
    const { blocks, threads } = divided(frame);
    const labels = new Labels(frame);
    const there = blocks.map(({ cells, label }) => labels.block(firstRun(cells), label));
    const named = labels.thread({ run: firstRun(threads[0].cells), inside: true, lower: true }, 'thread (0,0)');
    if (space === 600) assert.ok(named && there.every(Boolean));
    if (space === 110) assert.ok(!there.some(Boolean));
    const boxes = labels.placed.map(({ x, y, text }) => [x, y - 7, x + text.length * 5, y + 1]);
    boxes.forEach((one, i) =>
      boxes.slice(i + 1).forEach((other) => {
        assert.ok(one[2] <= other[0] || other[2] <= one[0] || one[3] <= other[1] || other[3] <= one[1]);
      }),
    );
    for (const [left, , right, bottom] of boxes) assert.ok(left >= 0 && right <= frame.width && bottom <= frame.height);
  }
});

test('of more threads than can be told apart none is drawn, their blocks are', () => {
  const found = divided(framed([grid(48, 16)]));
  assert.deepEqual([found.blocks.length, found.threads.length], [9, 0]);
});

/** B and A in loops of their own within those of t, at slots of the same places; those of B are parallel. */
const stencil = (kind: string, other = 'serial'): Told[] => {
  const points = box(3, 2);
  const own = { points, dims: ['t', 'i'], loops: ['t', 'i'] };
  return [
    { ...own, name: 'B', kinds: ['serial', kind], numbers: [0, 1] },
    { ...own, name: 'A', kinds: ['serial', other], numbers: [0, 2] },
  ];
};

const drawnOf = (told: Told[]) => {
  const data = program(told);
  const frame = new Frame(data, data.domain.nests[0], { x: 'i', y: 't', at: {} }, 600);
  const found = divided(frame);
  const under = (regions: Region[], statement: number) =>
    frame.scene.marks.filter(
      (m) =>
        m.statement === statement &&
        regions.some(({ side, parts }) =>
          parts.some(([x, y]) => {
            const [[left, top], [right, bottom]] = [placed(side, [x - 0.5, y - 0.5]), placed(side, [x + 0.5, y + 0.5])];
            const [at, down] = [m.x + m.shift[0], m.y + m.shift[1]];
            return at > left && at < right && down > top && down < bottom;
          }),
        ),
    ).length;
  return { found, under };
};

test('threads lie under the statements of their own loop only, also where others stand at the same places', () => {
  const { found, under } = drawnOf(stencil('parallel'));
  assert.deepEqual(
    found.threads.map(({ label }) => label),
    ['thread i=0', 'thread i=1'],
  );
  assert.deepEqual([under(found.threads, 0), under(found.threads, 1)], [6, 0]);
  assert.equal(outlines(found.threads[0].parts).length, 1, 'a strip through all rows');
});

test('blocks of loops of their own are apart, those of a loop around both are one', () => {
  const { found, under } = drawnOf(stencil('block.x', 'block.x'));
  assert.equal(found.blocks.length, 12);
  for (const block of found.blocks) {
    const [own] = block.statements;
    assert.deepEqual([block.statements.size, under([block], own), under([block], 1 - own)], [1, 1, 0]);
  }
  const together = drawnOf(stencil('block.x', 'block.x').map((one) => ({ ...one, numbers: [0, 1] })));
  assert.deepEqual([together.found.blocks.length, together.found.blocks[0].side], [6, 1]);
});

test('a block of several places goes around its own points, not around those of others between them', () => {
  const told = stencil('serial').map((one, n) => ({
    ...one,
    kinds: n ? ['serial', 'serial'] : ['serial', 'block.x'],
    numbers: [n + 3, n + 5],
  }));
  told[0].kinds = ['block.x', 'serial'];
  const { found, under } = drawnOf(told);
  assert.deepEqual([found.blocks.length, under(found.blocks, 0), under(found.blocks, 1)], [3, 6, 0]);
});

test('a thread is named inside, below the picture, or on an edge that no other block has', () => {
  const frame = framed([grid(8, 2)]);
  const [x, y] = frame.at(-0.5, -0.5);
  const wide = new Labels(frame);
  assert.ok(wide.thread({ run: [-0.5, -0.5, 3.5, 0.5], inside: true, lower: false }, 'thread (0,0)'));
  assert.ok(wide.placed[0].y > y && wide.placed[0].y < frame.at(0, 0)[1]);
  const foot = new Labels(frame);
  assert.ok(foot.thread({ run: [-0.5, -0.5, 0.5, 0.5], foot: -0.5, inside: true, lower: false }, 'thread (0,0)'));
  assert.ok(foot.placed[0].y > frame.at(0, 7.5)[1] && foot.placed[0].x >= x);
  const none = new Labels(frame);
  assert.ok(none.block([-0.5, -0.5, 1.5, -0.5], 'block (0,0)'));
  assert.ok(!none.thread({ run: [-0.5, -0.5, 0.5, 0.5], inside: true, lower: false }, 'thread (0,0)'));
});

test('blocks are named among many where they are much larger than their labels', () => {
  const labels = new Labels(framed([grid(8, 2)]));
  assert.ok(labels.roomy([-0.5, -0.5, 1.5, 1.5], '(0,0)'));
  const small = new Labels(framed([grid(8, 2)], {}, 190));
  assert.ok(!small.roomy([-0.5, -0.5, 3.5, 0.5], '(0,0)'));
});
