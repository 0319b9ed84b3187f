// How pictures fill their pane: in one column or two, what is chosen for each below it or beside, all as large as there is room.

import { LEAST, MARGIN, MOST } from '../plot/frame';
import type { XY } from '../tools/geometry';

const BETWEEN = 10; // pixels between rows of pictures
const BESIDE = 176; // pixels of axes and sliders beside their picture
const NARROWEST = 172; // pixels of a nest beside others
const LOWEST = 150; // pixels of a picture in which something is seen
const CLEAR = 10; // pixels of a place that need not be larger
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

/** Pixels of all rows, their pictures as high as `tall` says. */
function taken(needs: Needs[], { columns, beside }: Stand, tall: (places: XY) => number): number {
  const each = needs.map(({ places, names, controls }) => {
    const picture = tall(places);
    return names + (beside ? Math.max(picture, controls) : picture + controls);
  });
  const rows = each.flatMap((_, i) => (i % columns ? [] : [Math.max(...each.slice(i, i + columns))]));
  return rows.reduce((sum, row) => sum + row + BETWEEN, -BETWEEN);
}

/** Pixels of a place, the most with which all pictures are seen at once; 0 where they are not. */
export function largest(needs: Needs[], stand: Stand, wide: number, high: number): number {
  const fits = (unit: number) =>
    taken(needs, stand, (places) => places[1] * Math.min(unit, across(places, stand, wide)) + MARGIN.top + MARGIN.bottom) <= high;
  let [low, top] = [0, MOST];
  if (fits(top)) return top;
  for (let n = 0; n < 20; n += 1) {
    const middle = (low + top) / 2;
    if (fits(middle)) low = middle;
    else top = middle;
  }
  return low < LEAST ? 0 : low;
}

/** The stand whose smallest places are largest, where none shows all that of which most is seen; `needs` says what pictures
 * need in each.
 */
export function best(found: Stand[], needs: (stand: Stand) => Needs[], wide: number, high: number): Stand {
  const worth = (stand: Stand) => {
    const all = needs(stand);
    const unit = largest(all, stand, wide, high);
    if (!unit) return high - taken(all, stand, (places) => height(places, 0));
    return Math.min(...all.map(({ places }) => Math.min(unit, across(places, stand, wide))));
  };
  const all = found.map((stand) => ({ stand, worth: worth(stand) }));
  return all.reduce((a, b) => (b.worth > a.worth + (ALIKE - 1) * Math.abs(a.worth) ? b : a)).stand;
}

/** Pixels that a picture may be high at so many for a place; no fewer than something is seen in. */
export function height([, count]: XY, unit: number): number {
  const lowest = Math.min(CLEAR, (LOWEST - MARGIN.top - MARGIN.bottom) / count);
  return count * Math.max(unit, lowest) + MARGIN.top + MARGIN.bottom;
}
