// Which nests are drawn: few of them all at once; of many, or of one in which many statements meet, the part that costs most.

import type { Data } from '../state/data';
import type { Nest } from '../state/messages';

const MANY = 5; // nests that cannot be seen at once
export const CROWD = 3; // statements of a nest that can be told apart in one picture

/** A picture that may be shown: a nest, or one statement of it. */
export interface Choice {
  nest: Nest;
  whole: boolean; // with more statements than are told apart
  names: string[];
  share: number; // of all operations and touches
}

/** Every picture, in the order in which the nests run; a crowded nest is offered by its statements, then whole. */
export function choices(data: Data): Choice[] {
  const all = cost(
    data,
    data.domain.statements.map((_, n) => n),
  );
  const choice = (nest: Nest): Choice => ({
    nest,
    whole: nest.statements.length > CROWD,
    names: nest.statements.map((n) => data.domain.statements[n].name),
    share: cost(data, nest.statements) / (all || 1),
  });
  return data.domain.nests.flatMap((nest) => [
    ...(nest.statements.length > CROWD ? nest.statements.map((n) => choice(part(data, nest, [n]))) : []),
    choice(nest),
  ]);
}

/** How many rows of pictures there is room for; any number where the pane grows with them. */
export interface RoomFor {
  rows: number;
  columns: number;
}

/** Whether one picture at a time is shown: where statements would cover one another, or not all nests would be seen. */
export function oneAtATime({ domain: { nests } }: Data, { rows, columns }: RoomFor): boolean {
  if (nests.some(({ statements }) => statements.length > CROWD)) return true;
  return nests.length > 1 && (Math.ceil(nests.length / columns) > rows || (Number.isFinite(rows) && nests.length >= MANY));
}

/** The picture with most of the work in which statements are told apart. */
export function costliest(all: Choice[]): Choice {
  const clear = all.filter(({ whole }) => !whole);
  return (clear.length ? clear : all).reduce((a, b) => (b.share > a.share ? b : a));
}

/** Some statements of a nest as a nest of their own, on the axes that they have. */
export function part(data: Data, nest: Nest, statements: number[]): Nest {
  const has = (axis: string) => statements.some((n) => data.along(data.domain.statements[n], axis) !== null);
  const axes = nest.axes.filter(has);
  const longest = statements.map((n) => data.domain.statements[n].dims).reduce((a, b) => (b.length > a.length ? b : a));
  const wanted = [nest.x, nest.y, ...[...longest].reverse(), ...axes].filter((axis) => axes.includes(axis));
  const x = has(nest.x) ? nest.x : (wanted.find((axis) => axis !== nest.y) ?? '');
  const y = has(nest.y) && nest.y !== x ? nest.y : (wanted.find((axis) => axis !== x) ?? '');
  const counts = Object.fromEntries(Object.entries(nest.counts).filter(([text]) => axes.includes(text)));
  return { statements, x: x || y, y: x ? y : '', axes, counts };
}

const cost = (data: Data, statements: number[]): number => statements.reduce((sum, n) => sum + data.domain.statements[n].cost, 0);

/** What a picture is remembered by: the names of its statements. */
export const keyOf = (data: Data, nest: Nest): string => nest.statements.map((n) => data.domain.statements[n].name).join();
