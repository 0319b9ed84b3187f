// How pictures fill their pane: in one column or two, what is chosen for each below it or beside, all as large as there is room.

import { MARGIN, MOST } from './frame';
import type { XY } from './geometry';

const BETWEEN = 10; // pixels between rows of pictures
const BESIDE = 176; // pixels of axes and sliders beside their picture
const NARROWEST = 172; // pixels of a nest beside others
const LOWEST = 150; // pixels of a picture in which something is seen
const CLEAR = 15; // pixels of a place that need not be larger
const ALIKE = 1.02; // how much larger pictures are for which another order is worth it

export interface Stand {
  columns: 1 | 2;
  beside: boolean; // what is chosen for a picture stands beside it, not below
}

/** A picture's places each way, and pixels of height of the names above it and of what is chosen for it. */
export interface Needs {
  places: XY;
  names: number;
  controls: number;
}

export const twoFit = (wide: number): boolean => wide / 2 - 10 >= NARROWEST;

/** How so many pictures may stand, that which is taken first where others gain nothing. */
export function stands(count: number, wide: number): Stand[] {
  return [
    ...(count > 1 && twoFit(wide) ? [{ columns: 2, beside: false } as const] : []),
    { columns: 1, beside: false },
    ...(wide - BESIDE >= LOWEST ? [{ columns: 1, beside: true } as const] : []),
  ];
}

/** Pixels that a picture may be wide. */
export const space = ({ columns, beside }: Stand, wide: number): number => (columns === 2 ? wide / 2 - 10 : beside ? wide - BESIDE : wide);

const across = ([count]: XY, stand: Stand, wide: number): number =>
  Math.min(MOST, (space(stand, wide) - MARGIN.left - MARGIN.right) / count);

/** Pixels of a place, the most with which all pictures are seen at once; 0 where they are not. */
export function largest(needs: Needs[], stand: Stand, wide: number, high: number): number {
  const taken = (unit: number) => {
    const each = needs.map(({ places, names, controls }) => {
      const picture = places[1] * Math.min(unit, across(places, stand, wide)) + MARGIN.top + MARGIN.bottom;
      return names + (stand.beside ? Math.max(picture, controls) : picture + controls);
    });
    const rows = each.flatMap((_, i) => (i % stand.columns ? [] : [Math.max(...each.slice(i, i + stand.columns))]));
    return rows.reduce((sum, row) => sum + row + BETWEEN, -BETWEEN);
  };
  let [low, top] = [0, MOST];
  if (taken(top) <= high) return top;
  for (let n = 0; n < 20; n += 1) {
    const middle = (low + top) / 2;
    if (taken(middle) <= high) low = middle;
    else top = middle;
  }
  return low;
}

/** The stand whose smallest places are largest; `needs` says what pictures need in each. */
export function best(found: Stand[], needs: (stand: Stand) => Needs[], wide: number, high: number): Stand {
  const smallest = (stand: Stand) => {
    const all = needs(stand);
    const unit = largest(all, stand, wide, high);
    return Math.min(...all.map(({ places }) => Math.min(unit, across(places, stand, wide))));
  };
  return found.map((stand) => ({ stand, unit: smallest(stand) })).reduce((a, b) => (b.unit > a.unit * ALIKE ? b : a)).stand;
}

/** Pixels that a picture may be high at so many for a place; no fewer than something is seen in. */
export function height([, count]: XY, unit: number): number {
  const lowest = Math.min(CLEAR, (LOWEST - MARGIN.top - MARGIN.bottom) / count);
  return count * Math.max(unit, lowest) + MARGIN.top + MARGIN.bottom;
}
