// What lies behind the points of a nest: the tiles, what one thread runs, what one vector executes at once.

import { s } from './dom';
import type { Frame } from './frame';
import { hull, spot } from './geometry';
import { role } from './palette';
import type { XY } from './geometry';
import type { Mark } from './scene';

const MOST = 2000; // regions beyond which shades say nothing any more

interface Group {
  statements: Set<number>;
  times: number[];
  marks: Mark[];
}

/** Visible marks whose chosen loops have equal times, over all statements that share these loops. */
function groups(frame: Frame, chosen: (kinds: string[], tiled: number) => number[]): Group[] {
  const { data, nest, scene } = frame;
  const found = new Map<string, Group>();
  for (const number of nest.statements) {
    const own = data.domain.statements[number];
    const columns = chosen(own.kinds, own.tiled);
    if (!columns.length) continue;
    const names = columns.map((i) => own.loops[i]).join();
    for (const [row, mark] of scene.byRow[number]) {
      const times = columns.map((i) => data.at(own.times, row, i));
      const key = `${names}:${times.join()}`;
      const known = found.get(key) ?? { statements: new Set(), times, marks: [] };
      known.statements.add(number);
      known.marks.push(mark);
      found.set(key, known);
    }
  }
  return [...found.values()];
}

/** Regions of one thread each, neighbours in two shades. */
export function threads(frame: Frame): SVGElement[] {
  const runs = (kind: string) => kind === 'parallel' || kind.startsWith('block') || kind.startsWith('thread');
  const found = groups(frame, (kinds) => kinds.flatMap((kind, i) => (runs(kind) ? [i] : [])));
  const parts = found.flatMap(({ times, marks }) => pieces(marks).map((piece) => ({ odd: times.reduce((a, b) => a + b, 0) % 2, piece })));
  if (parts.length > MOST) return [];
  return parts.map(({ odd, piece }) => outline(frame, piece, `thread ${odd ? 'odd' : 'even'}`, 0.5));
}

export function tiles(frame: Frame): SVGElement[] {
  const found = groups(frame, (_, tiled) => Array.from({ length: tiled }, (_, i) => i));
  return found.flatMap(({ statements, marks }) =>
    pieces(marks).map((piece) =>
      outline(frame, piece, statements.size > 1 ? 'tile shared' : `tile ${role(frame.data.number([...statements][0]))}`, 0.42),
    ),
  );
}

/** A bar through the points of each vector. */
export function lanes(frame: Frame): SVGElement[] {
  const found = groups(frame, (kinds) => (kinds.includes('vector') ? kinds.flatMap((kind, i) => (kind === 'vector' ? [] : [i])) : []));
  return found.flatMap(({ statements, marks }) =>
    [...statements].flatMap((number) => {
      const own = marks.filter((m) => m.statement === number);
      const d = `M${own
        .map((m) =>
          frame
            .place(m)
            .map((v) => v.toFixed(1))
            .join(),
        )
        .join('L')}`;
      return own.length > 1 ? [s('path', { class: `lane ${role(frame.data.number(number))}`, d, 'stroke-width': frame.unit * 0.55 })] : [];
    }),
  );
}

function outline(frame: Frame, marks: Mark[], name: string, wide: number): SVGElement {
  const around = marks.flatMap(({ x, y }) =>
    [
      [-1, -1],
      [-1, 1],
      [1, -1],
      [1, 1],
    ].map(([a, b]): XY => frame.at(x + a * wide, y + b * wide)),
  );
  return s('path', {
    class: name,
    d: `M${hull(around)
      .map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`)
      .join('L')}z`,
  });
}

/** Marks that hang together: a thread may have rows that are far apart, and what lies between is not its own. */
function pieces(marks: Mark[]): Mark[][] {
  const left = new Map<number, Mark[]>();
  for (const mark of marks) left.set(spot(mark.x, mark.y), [...(left.get(spot(mark.x, mark.y)) ?? []), mark]);
  const found: Mark[][] = [];
  for (const start of [...left.keys()]) {
    const piece: Mark[] = [];
    const open = [start];
    while (open.length) {
      const own = left.get(open[open.length - 1]);
      const at = open.pop()!;
      if (!own) continue;
      left.delete(at);
      piece.push(...own);
      for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) open.push(spot(own[0].x + dx, own[0].y + dy));
    }
    if (piece.length) found.push(piece);
  }
  return found;
}
