// Numbers in words: how many of what, bytes and rates with their units, times and factors.

/** A noun for so many; `several` where an s does not make it. */
export const noun = (count: number, one: string, several = `${one}s`): string => (count === 1 ? one : several);

/** `1 step`, `2 steps`. */
export const numberOf = (count: number, one: string, several?: string): string => `${count} ${noun(count, one, several)}`;

// Numbers as `viz.draw.quantities` says them in pictures: js/tests/tools/quantities.json holds what both must say.
const BYTES: [scale: number, unit: string][] = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']]; // prettier-ignore
const COUNTS: [least: number, scale: number, unit: string][] = [[1e12, 1e12, 'T'], [1e9, 1e9, 'G'], [1e6, 1e6, 'M'], [1e4, 1e3, 'k']]; // prettier-ignore

export function bytes(n: number): string {
  const [scale, unit] = BYTES.find(([least]) => n >= least) ?? [1, 'B'];
  return `${short(n / scale)} ${unit}`;
}

export function count(n: number): string {
  const [, scale, unit] = COUNTS.find(([least]) => n >= least) ?? [0, 1, ''];
  return `${short(n / scale)} ${unit}`.trimEnd();
}

/** `12.3 GFLOP/s`. */
export function rate(n: number, unit: string): string {
  const [value, prefix = ''] = count(n).split(' ');
  return `${value} ${prefix}${unit}`;
}

/** `41.2 us`. */
export function duration(seconds: number): string {
  const [unit, factor] = seconds < 1e-6 ? ['ns', 1e9] : seconds < 1e-3 ? ['us', 1e6] : seconds < 1 ? ['ms', 1e3] : ['s', 1];
  const value = seconds * factor;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}

/** `3.2×`: as many digits as a model may be right by. */
export const rounded = (gain: number): string => `${gain >= 10 ? gain.toFixed(0) : gain.toPrecision(gain < 0.1 ? 1 : 2)}×`;

/** Three digits, but all of a whole number's. */
function short(value: number): string {
  if (Number.isInteger(value) && value < 1e5) return String(value);
  return String(value < 999.5 ? Number(value.toPrecision(3)) : Math.round(value));
}
