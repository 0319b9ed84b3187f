// Writes down which sources the bundle in workbench/labextension was made of.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const here = new URL('.', import.meta.url).pathname;
const below = ['src', 'schema'].flatMap((folder) => readdirSync(here + folder).map((name) => `${folder}/${name}`));
const hash = createHash('sha256');
for (const name of [...below, 'package.json', 'package-lock.json', 'tsconfig.json'].sort()) {
  hash
    .update(`${name}\n`)
    .update(readFileSync(here + name))
    .update('\n');
}
writeFileSync(`${here}../../workbench/labextension/sources.sha256`, `${hash.digest('hex')}\n`);
