// Counts in words: a number and what is counted, one of it or several.

/** A noun for so many; `several` where an s does not make it. */
export const noun = (count: number, one: string, several = `${one}s`): string => (count === 1 ? one : several);

/** `1 step`, `2 steps`. */
export const numberOf = (count: number, one: string, several?: string): string => `${count} ${noun(count, one, several)}`;
