// Who runs at the same time: threads side by side, each in its own order, the lanes of a vector at once.

import type { Data } from './data';
import type { Statement } from './messages';

export interface Happening {
  statement: number;
  rows: number[];
}
export interface Moments {
  clock: Int32Array[]; // statement → row → moment
  threads: string[]; // names of the rows, `m_o = 1, n_i = 0`
  table: (Happening | undefined)[][]; // moment → thread → what it executes
}

const atOnce = (kind: string): boolean => kind === 'parallel' || kind.startsWith('block') || kind.startsWith('thread');

/** Whether anything runs at the same time as anything else. */
export function concurrent(data: Data): boolean {
  return data.domain.statements.some((own) => own.kinds.some((kind) => atOnce(kind) || kind === 'vector'));
}

/** Regions one after another; within one, threads begin together and do not wait for one another. */
export function moments(data: Data): Moments {
  const own = data.domain.statements;
  const clock = own.map((s) => new Int32Array(s.points[1]));
  const names = new Map<string, number>();
  const table: Moments['table'] = [];
  let region: string | null = null;
  let busy = new Map<string, Map<string, Happening>>(); // thread → event → what is executed, in the thread's order
  const flush = () => {
    const start = table.length;
    for (const [thread, events] of busy) {
      if (!names.has(thread)) names.set(thread, names.size);
      [...events.values()].forEach((happening, i) => {
        (table[start + i] ??= [])[names.get(thread)!] = happening;
        for (const row of happening.rows) clock[happening.statement][row] = start + i;
      });
    }
    busy = new Map();
  };
  for (const [number, row] of inOrder(data)) {
    const key = keys(data, own[number], number, row);
    if (key.region !== region) flush();
    region = key.region;
    const events = busy.get(key.thread) ?? new Map<string, Happening>();
    busy.set(key.thread, events);
    const same = events.get(key.event);
    if (same) same.rows.push(row);
    else events.set(key.event, { statement: number, rows: [row] });
  }
  flush();
  return { clock, threads: [...names.keys()], table };
}

function inOrder(data: Data): [statement: number, row: number][] {
  const order: [number, number][] = [];
  data.domain.statements.forEach((own, number) => {
    for (let row = 0; row < own.points[1]; row += 1) order[data.at(own.when, row, 0)] = [number, row];
  });
  return order.filter(Boolean);
}

/** Which region, which thread of it and which event of the thread an instance belongs to. */
function keys(data: Data, own: Statement, number: number, row: number): { region: string; thread: string; event: string } {
  const first = own.kinds.findIndex(atOnce);
  const value = (i: number) => data.at(own.times, row, i);
  const outer = own.loops
    .slice(0, Math.max(0, first))
    .map((_, i) => value(i))
    .join();
  const thread = own.loops.flatMap((name, i) => (atOnce(own.kinds[i]) ? [`${name} = ${value(i)}`] : [])).join(', ');
  const lanes = own.kinds.includes('vector');
  const event = lanes ? own.loops.flatMap((_, i) => (own.kinds[i] === 'vector' ? [] : [value(i)])).join() : `${row}`;
  return { region: first < 0 ? '' : `${own.loops[first]} ${outer}`, thread, event: `${number}: ${event}` };
}
