// What `npm run lint` asks: of the panel's sources and their tests with their types, of JupyterLab's extension, whose
// types are half a gigabyte, without.
import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import globals from 'globals';
import { configs } from 'typescript-eslint';

const typed = {
  files: ['src/**/*.ts', 'tests/**/*.ts'],
  extends: [configs.strictTypeChecked, configs.stylisticTypeChecked],
  languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  rules: {
    '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
    '@typescript-eslint/no-non-null-assertion': 'off', // what a map was just given is there
    '@typescript-eslint/no-unnecessary-condition': 'off', // an index may be beyond the end, which its type does not say
    '@typescript-eslint/no-floating-promises': [
      'error',
      { allowForKnownSafeCalls: [{ from: 'package', name: ['test'], package: 'node:test' }] },
    ],
  },
};

export default defineConfig(
  { ignores: ['node_modules', 'lab/lib', 'lab/node_modules'] },
  eslint.configs.recommended,
  typed,
  {
    files: ['lab/src/**/*.ts'],
    extends: [configs.strict, configs.stylistic],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  { files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
);
