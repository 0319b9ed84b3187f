import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Looks } from '../../src/domain/looks';
import type { Data } from '../../src/state/data';
import type { Wrong } from '../../src/state/messages';
import type { State } from '../../src/state/state';
import { box, program } from '../programs';

const looksAt = (data: Data) => new Looks({ data } as State);
const cube = () => program([{ name: 'C', points: box(4, 4, 4) }]);

test('a nest is looked at with its own axes, and what is on none stands at its second value', () => {
  const data = cube();
  const look = looksAt(data).take(data.domain.nests[0]);
  assert.deepEqual([look.x, look.y, look.at], ['i', 'j', { k: 1 }]);
});

test('what was chosen stays, and what no longer has such a value comes back', () => {
  const data = cube();
  const looks = looksAt(data);
  const [nest] = data.domain.nests;
  looks.take(nest).at.k = 3;
  assert.equal(looks.take(nest).at.k, 3);
  assert.equal(looks.of(nest).at.k, 3);
  looks.of(nest).at.k = 9;
  assert.equal(looks.take(nest).at.k, 1);
});

test('where no dependence runs within one slice, all slices are shown at once', () => {
  const pairs = [[0, 1]]; // from k = 0 to k = 1
  const apart = program([{ name: 'C', points: box(1, 1, 3) }], [{ kind: 'flow', array: 'C', source: 0, target: 0, pairs }], {
    x: 'k',
    y: 'j',
  });
  assert.deepEqual(looksAt(apart).take(apart.domain.nests[0]).at, { i: 0 }, 'it runs along an axis');
  const hidden = program(
    [
      {
        name: 'C',
        points: [
          [0, 0, 0],
          [1, 0, 1],
        ],
      },
    ],
    [{ kind: 'flow', array: 'C', source: 0, target: 0, pairs }],
  );
  assert.deepEqual(looksAt(hidden).take(hidden.domain.nests[0]).at, { k: null });
});

test('the two ends of a refused step are seen: what tells them apart is on an axis, or all of its values are shown', () => {
  const data = cube();
  const looks = looksAt(data);
  const [nest] = data.domain.nests;
  const look = looks.take(nest);
  const wrong = (pair: [number[], number[]]): Wrong => ({
    source: 'C',
    target: 'C',
    reason: 'order',
    loop: 'k',
    kind: 'flow',
    array: 'C',
    pairs: [pair],
    words: ['', ''],
    data: '',
  });
  looks.reveal(
    { nest, look },
    wrong([
      [0, 2, 1],
      [0, 2, 3],
    ]),
    [0, 0],
  );
  assert.deepEqual([look.x, look.y, look.at.i], ['k', 'j', 0]);
  looks.reveal(
    { nest, look },
    wrong([
      [1, 2, 1],
      [2, 2, 3],
    ]),
    [0, 0],
  );
  assert.deepEqual([look.x, look.y, look.at.i], ['k', 'j', null]);
});
