// The console's own modules, for tests that need no page: what vite builds with makes one file of each.
// SPDX-License-Identifier: Apache-2.0
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freshDirectory } from './harness.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'console');
// esbuild is there with vite.
const { build } = createRequire(createRequire(join(source, 'package.json')).resolve('vite'))('esbuild');

/** `lib/recognise.ts` as a module of node's. */
export async function loadModule(path) {
  const outfile = join(freshDirectory(), 'module.mjs');
  await build({ entryPoints: [join(source, 'src', path)], outfile, bundle: true, format: 'esm', logLevel: 'silent', define: { 'import.meta.env.DEV': 'false' } });
  return import(pathToFileURL(outfile));
}
