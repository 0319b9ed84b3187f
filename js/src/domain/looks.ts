// What each nest is looked at with: its axes and the values on its sliders, which stay through the steps of a schedule.

import { keyOf } from './choice';
import { followed, scene, sliders } from '../plot/scene';
import type { Look } from '../plot/scene';
import type { Nest, Wrong } from '../state/messages';
import type { State } from '../state/state';

export class Looks {
  private readonly looks = new Map<string, Look>();
  private readonly seen = new Map<string, Nest>(); // as it was when its look was last used

  constructor(private readonly state: State) {}

  /** By what a nest is known from one schedule to the next. */
  key(nest: Nest): string {
    return keyOf(this.state.data, nest);
  }

  of(nest: Nest): Look {
    return this.looks.get(this.key(nest))!;
  }

  /** What a nest is looked at with from now on: as before, where a step did not change what its loops are. */
  take(nest: Nest): Look {
    const key = this.key(nest);
    const known = this.looks.get(key);
    const look = followed(known ?? { x: nest.x, y: nest.y, at: {} }, this.seen.get(key), nest);
    this.looks.set(key, look);
    this.seen.set(key, nest);
    for (const dim of sliders(this.state.data, nest, look)) {
      const [low, high] = this.state.data.range(dim, nest.statements);
      const at = look.at[dim];
      if (at === undefined || (at !== null && (at < low || at > high))) look.at[dim] = high - low > 1 ? low + 1 : low;
    }
    if (!known && !this.connected(nest, look) && this.connected(nest, { ...look, at: all(look) })) look.at = all(look);
    return look;
  }

  /** Whether some dependence runs between points that are seen: where none does in one slice, all are shown at once. */
  private connected(nest: Nest, look: Look): boolean {
    const { data } = this.state;
    const { byRow } = scene(data, nest, look);
    return data.domain.arrows.some(({ source, target, pairs }) => {
      for (let i = 0; i < pairs[1]; i += 1) {
        const [a, b] = [byRow[source].get(data.at(pairs, i, 0)), byRow[target].get(data.at(pairs, i, 1))];
        if (a && b && a !== b) return true;
      }
      return false;
    });
  }

  /** Axes and sliders move so that two instances, one of each of these statements, are seen. */
  reveal({ nest, look }: { nest: Nest; look: Look }, wrong: Wrong, ends: number[]): void {
    const { data } = this.state;
    const value = (end: 0 | 1, dim: string) =>
      wrong.pairs[0][end][data.domain.statements[ends[end]].dims.indexOf(dim)] as number | undefined;
    const moves = (dim: string) => value(0, dim) !== undefined && value(1, dim) !== undefined && value(0, dim) !== value(1, dim);
    const moving = nest.axes.filter(moves);
    if (moving.length && !moving.includes(look.x) && !moving.includes(look.y)) look.x = moving[0];
    for (const dim of sliders(data, nest, look)) look.at[dim] = moves(dim) ? null : (value(1, dim) ?? value(0, dim) ?? null);
  }
}

const all = (look: Look): Record<string, null> => Object.fromEntries(Object.keys(look.at).map((dim) => [dim, null]));
