// Bundles src/ into the file that anywidget loads, and writes down which sources it was made of.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const here = new URL('.', import.meta.url).pathname;
const out = `${here}../workbench/viz/panels/static/`;
await build({
  entryPoints: [`${here}src/index.ts`], outfile: `${out}panel.js`, bundle: true, format: 'esm', minify: true, target: 'es2022',
  charset: 'utf8', legalComments: 'none',
});
const sources = [...readdirSync(`${here}src`).map((name) => `src/${name}`), 'build.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];
const hash = createHash('sha256');
for (const name of sources.sort()) hash.update(`${name}\n`).update(readFileSync(here + name)).update('\n');
writeFileSync(`${out}panel.sha256`, `${hash.digest('hex')}\n`);
