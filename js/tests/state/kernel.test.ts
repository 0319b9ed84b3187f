import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../src/state/kernel';
import { model } from '../kernel';

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
