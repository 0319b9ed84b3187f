import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Watching } from '../../src/panel/watching';
import type { Changed } from '../../src/panel/watching';
import { Wire } from '../../src/state/kernel';
import type { Traits } from '../../src/state/messages';
import { model, settled } from '../kernel';

function watched() {
  const { made, held, heard } = model();
  const found: Changed[] = [];
  const watching = new Watching(new Wire(made), (changed) => found.push(changed));
  const change = (traits: Partial<Traits>) => {
    Object.assign(held, traits);
    for (const hear of heard) hear();
  };
  return { watching, change, found, heard };
}

test('what one message changes is heard of once, with what it was', async () => {
  const { change, found } = watched();
  change({ title: 'other', views: { warps: { reason: 'no threads' } } });
  await settled();
  assert.equal(found.length, 1);
  const { drawn, viewed, written, machine } = found[0];
  assert.deepEqual([drawn, viewed, written, machine.vector_bits], [true, true, false, 256]);
});

test('a change is one against what was heard of last', async () => {
  const { change, found } = watched();
  change({ title: 'other' });
  await settled();
  change({ panes: ['code'] });
  await settled();
  assert.deepEqual(
    found.map(({ drawn, panes }) => [drawn, panes]),
    [
      [true, false],
      [false, true],
    ],
  );
  change({ panes: ['code'] });
  await settled();
  assert.equal(found[2].panes, false, 'the same panes, told anew');
});

test('nobody listens after the end', () => {
  const { watching, heard } = watched();
  assert.ok(heard.size > 0);
  watching.close();
  assert.equal(heard.size, 0);
});
