import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/state/client';
import { model } from '../kernel';

test('a refusal is said, and the answer is undefined; the pane is not busy any more', async () => {
  const client = new Client(model().made);
  const said: string[] = [];
  const busy: boolean[] = [];
  client.onSay((text) => said.push(text));
  client.onBusy((now) => busy.push(now));
  assert.equal(await client.answer('undo', {}), undefined);
  assert.deepEqual(said, ['no such question: undo']);
  assert.deepEqual(busy, [true, false]);
});
