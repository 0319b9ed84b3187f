// Bundles src/ into the file that anywidget loads, and writes down which sources it was made of and whose code is in it.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const here = new URL('.', import.meta.url).pathname;
const out = `${here}../workbench/viz/panels/static/`;
const { metafile } = await build({
  entryPoints: [`${here}src/panel/index.ts`],
  outfile: `${out}panel.js`,
  bundle: true,
  format: 'esm',
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  metafile: true,
});

const packages = new Set(
  Object.keys(metafile.inputs)
    .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
    .filter(Boolean),
);
const licences = [...packages].sort().map((name) => {
  const folder = `${here}node_modules/${name}/`;
  const { version, license } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `# ${name} ${version}, ${license}\n\n${readFileSync(folder + file, 'utf8').trim()}\n`;
});
writeFileSync(`${out}panel.licences.txt`, licences.join('\n'));

const sources = [
  ...readdirSync(`${here}src`, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`),
  'build.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const hash = createHash('sha256');
for (const name of sources.sort())
  hash
    .update(`${name}\n`)
    .update(readFileSync(here + name))
    .update('\n');
writeFileSync(`${out}panel.sha256`, `${hash.digest('hex')}\n`);
