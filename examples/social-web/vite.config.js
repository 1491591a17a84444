// Builds the app into dist/. `npm run dev` serves it, reloaded as you edit, with the API of a server on port 8000.
// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';

const server = process.env.THORPE_ENDPOINT ?? 'http://127.0.0.1:8000';

export default defineConfig({
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  server: { proxy: { '/api': server } },
});
