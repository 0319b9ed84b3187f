import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ARRAY_COLOURS, COLOURS, arrayGlyph, arrayRole, form, glyph, role } from '../../src/tools/palette';

test('colour and mark together tell 36 statements and 24 arrays apart', () => {
  const numbers = [...Array(36).keys()];
  assert.equal(new Set(numbers.map((n) => `${role(n)} ${form(n)}`)).size, 36);
  assert.equal(new Set(numbers.slice(0, 24).map((n) => `${arrayRole(n)} ${arrayGlyph(n)}`)).size, 24);
});

test('eighteen statements and nine arrays have a colour of their own, all in the style sheet and as in Python', () => {
  const palette = readFileSync('../workbench/viz/draw/palette.py', 'utf8');
  assert.match(palette, new RegExp(`^STATEMENT_COLOURS, ARRAY_COLOURS = ${COLOURS}, ${ARRAY_COLOURS}$`, 'm'));
  const sheet = readFileSync('../workbench/viz/panels/static/panel.css', 'utf8');
  for (let n = 0; n < COLOURS; n += 1) {
    assert.ok(sheet.includes(`.wbp .${role(n)} { --own: var(--wb-${role(n)}); }`), role(n));
    assert.ok(sheet.includes(`.wbp .r-${role(n)} { color: var(--wb-${role(n)}); }`), role(n));
  }
  for (let n = 0; n < ARRAY_COLOURS; n += 1) assert.ok(sheet.includes(`.wbp .${arrayRole(n)} { --own: var(--wb-${arrayRole(n)}); }`));
});

test('no mark stands for a statement and for an array', () => {
  const numbers = [...Array(36).keys()];
  const statements = new Set(numbers.map(glyph));
  assert.ok(numbers.every((n) => !statements.has(arrayGlyph(n))));
});

test('the marks are those of the pictures that Python draws', () => {
  const palette = readFileSync('../workbench/viz/draw/palette.py', 'utf8');
  const told = (name: string) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(palette)![1];
  assert.equal([0, 1, 2, 3, 4, 5].map(glyph).join(''), told('GLYPHS'));
  assert.equal([0, 1, 2, 3].map(arrayGlyph).join(''), told('ARRAY_GLYPHS'));
});
