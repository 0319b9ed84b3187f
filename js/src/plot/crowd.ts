// Arrows that would cover the points they connect: then those of a few points stand for all, and a point shows its own.

import type { Arrow } from './arrows';
import type { Frame } from './frame';
import type { Mark } from './scene';

const WIDTH = 6; // pixels that an arrow needs across to be told from its neighbour

/** Whether there is less room around the points than their arrows need to be told apart. */
export function crowded(frame: Frame, arrows: Arrow[]): boolean {
  const places = new Set(frame.scene.marks.map(({ x, y }) => `${x},${y}`)).size;
  if (arrows.length <= frame.scene.marks.length) return false;
  const needed = arrows.reduce((sum, { from, to }) => sum + WIDTH * Math.hypot(to[0] - from[0], to[1] - from[1]), 0);
  return needed > places * frame.unit ** 2;
}

/** All arrows that leave one point of each statement: the one with most of them, of several the one nearest to the middle. */
export function examples(frame: Frame, arrows: Arrow[]): Set<Arrow> {
  const leaving = new Map<Mark, Arrow[]>();
  for (const arrow of arrows) leaving.set(arrow.source, [...(leaving.get(arrow.source) ?? []), arrow]);
  const best = new Map<number, Mark>();
  for (const mark of leaving.keys()) {
    const known = best.get(mark.statement);
    if (!known || clearer(frame, leaving, mark, known)) best.set(mark.statement, mark);
  }
  return new Set([...best.values()].flatMap((mark) => leaving.get(mark)!));
}

function clearer(frame: Frame, leaving: Map<Mark, Arrow[]>, mark: Mark, than: Mark): boolean {
  const more = leaving.get(mark)!.length - leaving.get(than)!.length;
  const { low, high } = frame.scene;
  const away = ({ x, y }: Mark) => Math.hypot(x - (low[0] + high[0]) / 2, y - (low[1] + high[1]) / 2);
  return more > 0 || (more === 0 && away(mark) < away(than));
}
