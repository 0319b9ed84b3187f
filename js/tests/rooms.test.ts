import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';

// The rooms of src in their order: a file imports from its own room and from those before it, types too.
const ROOMS = ['tools', 'layout', 'state', 'graphs', 'schedule', 'machine', 'code', 'trials', 'plot', 'domain', 'panel'];
const FILES = 15; // in a folder
const LINES = 300; // of a file that somebody wrote

const sources = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.replaceAll('\\', '/'));
const generated = (text: string) => text.slice(0, text.indexOf('\n')).includes('Written by tools/');

/** What is wrong with a file of src, in words. */
function faults(name: string, text: string): string[] {
  const own = ROOMS.indexOf(name.split('/')[0]);
  if (own < 0 || !name.includes('/')) return [`${name} is in no room`];
  const taken = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].map(([, path]) => posix.join(posix.dirname(name), path));
  const wrong = taken.filter((path) => !(ROOMS.indexOf(path.split('/')[0]) <= own) || !ROOMS.includes(path.split('/')[0]));
  const lines = text.trimEnd().split('\n').length;
  return [
    ...wrong.map((path) => `${name} imports ${path}, which stands after it`),
    ...(lines > LINES && !generated(text) ? [`${name} has ${lines} lines`] : []),
  ];
}

/** Folders of so many files, and more than one finds one's way in. */
function crowded(names: string[]): string[] {
  const folders = names.map((name) => posix.dirname(name));
  return [...new Set(folders)].filter((folder) => folders.filter((other) => other === folder).length > FILES);
}

test('a room imports only the rooms before it, and a file is one idea', () => {
  const found = sources('src').flatMap((name) => faults(name, readFileSync(`src/${name}`, 'utf8')));
  assert.deepEqual(found, []);
});

test('no folder is crowded', () => {
  assert.deepEqual([...crowded(sources('src')), ...crowded(sources('tests'))], []);
});

test('every room is there', () => {
  assert.deepEqual(new Set(sources('src').map((name) => name.split('/')[0])), new Set(ROOMS));
});

test('a test stands in the room of what it tests', () => {
  const inRooms = sources('tests').filter((name) => name.includes('/'));
  assert.deepEqual(
    inRooms.filter((name) => !existsSync(`src/${name.replace('.test.ts', '.ts')}`)),
    [],
  );
});

test('the check sees what is wrong', () => {
  const said = (name: string, text: string) => faults(name, text).length > 0;
  assert.ok(said('state/data.ts', "import { Plot } from '../plot/plot';"));
  assert.ok(said('state/data.ts', "import type { Plot } from '../plot/plot';"));
  assert.ok(said('state/data.ts', "export * from '../panel/index';"));
  assert.ok(said('plot/plot.ts', "import { x } from '../nowhere/x';"));
  assert.ok(said('loose.ts', ''));
  assert.ok(said('state/data.ts', 'one();\n'.repeat(LINES + 1)));
  assert.ok(!said('state/data.ts', `// Written by tools/x.py\n${'one();\n'.repeat(LINES + 1)}`));
  assert.ok(!said('plot/plot.ts', "import { h } from '../tools/dom';\nimport { Frame } from './frame';\nimport x from 'd3';"));
  assert.deepEqual(crowded([...Array(FILES + 1).keys()].map((n) => `state/${n}.ts`)), ['state']);
});
