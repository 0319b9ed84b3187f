// Runs the tests of tests/, which need no browser: `npm test`, or some files or folders of them by name.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const here = new URL('.', import.meta.url).pathname;
const named = process.argv.slice(2);
const files = readdirSync(`${here}tests`, { recursive: true }).filter(
  (name) => name.endsWith('.test.ts') && (!named.length || named.some((part) => name.startsWith(part) || basename(name).startsWith(part))),
);
const out = mkdtempSync(join(tmpdir(), 'panel-tests-'));
try {
  const entryPoints = files.map((name) => `${here}tests/${name}`);
  await build({
    entryPoints,
    outdir: out,
    outbase: `${here}tests`,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'inline',
  });
  const built = files.map((name) => join(out, name.replace(/\.ts$/, '.mjs')));
  process.exitCode =
    spawnSync(process.execPath, ['--enable-source-maps', '--test-reporter=spec', '--test', ...built], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
