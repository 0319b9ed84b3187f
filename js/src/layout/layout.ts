// Where the panes stand: the columns of one screen, their shares of it, and how high a panel becomes.

/** Panes that stand above one another, side by side with other columns. */
export interface Column {
  id: string;
  panes: string[];
}

export interface Plan {
  above: string[]; // over the whole width, before the columns
  columns: Column[]; // of one screen's height
  below: string[]; // what one scrolls to
}

export const WIDE = 980; // pixels in which three columns can be read
export const NARROW = 700; // pixels below which panes stand one below another
const GAP = 14; // pixels that stay free around a panel
const LOWEST = 420; // pixels of a panel that is still one screen
const HIGHEST = 1200;
const ENOUGH = 0.66; // so much of what is seen is enough for a panel that begins further down
const ROOMY = 620; // pixels, below which pictures of two nests are cut
const LEAST = 60; // pixels of a pane

const THREE: Column[] = [
  { id: 'pictures', panes: ['domain'] },
  { id: 'texts', panes: ['operator', 'code'] },
  { id: 'moves', panes: ['tree', 'steps', 'history'] },
];
const TWO: Column[] = [
  { id: 'pictures', panes: ['domain', 'tree', 'history'] },
  { id: 'texts', panes: ['operator', 'code', 'steps'] },
];
const ABOVE = ['model', 'trials'];
const USUAL: Record<string, number> = {
  pictures: 1.15,
  texts: 1.1,
  moves: 0.85,
  operator: 0.45,
  tree: 1.2,
  steps: 1.2,
  history: 0.7,
  domain: 1.6,
  code: 1.4,
};

/** How panes are laid out in so many pixels; of a panel without domain and code nothing is held to one screen. */
export function plan(shown: string[], width: number): Plan {
  const big = shown.includes('domain') || shown.includes('code');
  if (width < NARROW || !big) return { above: [], columns: [], below: shown };
  const columns = (width < WIDE ? TWO : THREE)
    .map(({ id, panes }) => ({ id, panes: panes.filter((name) => shown.includes(name)) }))
    .filter(({ panes }) => panes.length);
  const placed = columns.flatMap(({ panes }) => panes);
  return {
    above: shown.filter((name) => ABOVE.includes(name)),
    columns,
    below: shown.filter((name) => !ABOVE.includes(name) && !placed.includes(name)),
  };
}

/** What an id (a column, a pane) has of the room, against its neighbours. */
export function share(shares: Record<string, number>, id: string): number {
  return shares[id] ?? USUAL[id] ?? 1;
}

/** The shares after the border behind the nth of some ids was moved by so many pixels; each keeps a least size. */
export function moved(shares: Record<string, number>, ids: string[], pixels: number[], nth: number, by: number): Record<string, number> {
  const [a, b] = [pixels[nth], pixels[nth + 1]];
  const least = Math.min(LEAST, a, b);
  const to = Math.max(least - a, Math.min(by, b - least));
  const both = share(shares, ids[nth]) + share(shares, ids[nth + 1]);
  const part = (both * (a + to)) / (a + b);
  return { ...shares, [ids[nth]]: part, [ids[nth + 1]]: both - part };
}

/**
 * Pixels of height: all that is seen at once, where somebody brings a panel into view; else what is left below its top, where
 * that is enough.
 */
export function fitted(seen: { top: number; bottom: number }, top: number, brought = false): number {
  const whole = seen.bottom - seen.top - 2 * GAP;
  const below = seen.bottom - Math.max(top, seen.top) - GAP;
  const enough = !brought && top >= seen.top && below >= Math.max(ENOUGH * whole, Math.min(ROOMY, whole));
  const wanted = enough ? Math.min(below, whole) : whole;
  return Math.round(Math.max(LOWEST, Math.min(HIGHEST, wanted)));
}

/** The two panes of a talk: the ones chosen last, in the order they stand in. */
export function pair(shown: string[], chosen: string[]): string[] {
  const wanted = [...chosen.filter((name) => shown.includes(name)), ...['domain', 'code', ...shown]].filter((name) => shown.includes(name));
  const two = [...new Set(wanted)].slice(0, 2);
  return shown.filter((name) => two.includes(name));
}
