// A model as the panel holds it, with a kernel that answers by a table.

import type { Model } from '../src/state/kernel';
import type { Traits } from '../src/state/messages';
import { box, code, program } from './programs';

interface Asked {
  ask: string;
  name: string;
  with: Record<string, unknown>;
}

/** A model whose kernel answers by a table, at once. */
export function model(answers: Record<string, (given: Record<string, unknown>) => unknown> = {}, traits: Partial<Traits> = {}) {
  const data = program([{ name: 'C', points: box(2, 3), kinds: ['parallel', 'serial'] }]);
  const held: Partial<Traits> = {
    domain: data.domain,
    tables: new DataView(data.numbers.buffer),
    machine: { vector_bits: 256, cache_bytes: [1, 2, 3], line_bytes: 64 },
    selection: {},
    views: {},
    tree: [],
    code: code(
      [
        ['void f()', []],
        ['C = 1;', ['C']],
      ],
      1,
    ),
    past: { script: '', steps: ['tile'], remarks: [{ text: '', warns: false }], place: 4, undo: true, redo: false, moments: [] },
    ...traits,
  };
  const heard = new Set<(message?: unknown) => void>();
  const asked: Asked[] = [];
  const saved: Partial<Traits>[] = [];
  const made: Model = {
    get: (name) => held[name]!,
    set: (name, value) => {
      held[name] = value;
    },
    save_changes: () => {
      saved.push({ ...held });
    },
    on: (_, callback) => {
      heard.add(callback);
    },
    off: (_, callback) => {
      heard.delete(callback);
    },
    send: (content) => {
      const question = content as Asked;
      asked.push(question);
      queueMicrotask(() => {
        const answer = answers[question.name];
        const said = answer ? { result: answer(question.with) } : { error: `no such question: ${question.name}` };
        for (const hear of [...heard]) hear({ answer: question.ask, ...said });
      });
    },
  };
  return { made, held, heard, asked, saved };
}

/** After every answer that is on its way. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 1));
