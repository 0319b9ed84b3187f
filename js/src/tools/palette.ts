// What tells statements and arrays apart: colours by their numbers, which stay theirs through all steps, and marks that
// turn with every round of six.  The same tables as in workbench/viz/draw/palette.py.

export const COLOURS = 18;
export const ARRAY_COLOURS = 9;
const ROUND = 6;
const GLYPHS = ['●', '■', '◆', '▲', '○', '✚'];
const ARRAY_GLYPHS = ['□', '◇', '△', '▬'];

const turned = (number: number, forms: number): number => (number + Math.floor(number / ROUND)) % forms;

/** The colour of a statement, as a class: `s0`. */
export const role = (number: number): string => `s${number % COLOURS}`;

/** Which of the six marks a statement has. */
export const form = (number: number): number => turned(number, GLYPHS.length);

/** A statement's mark as a character. */
export const glyph = (number: number): string => GLYPHS[form(number)];

/** The colour of an array, as a class: `a0`; never that of a statement. */
export const arrayRole = (number: number): string => `a${number % ARRAY_COLOURS}`;

/** An array's mark as a character. */
export const arrayGlyph = (number: number): string => ARRAY_GLYPHS[turned(number, ARRAY_GLYPHS.length)];
