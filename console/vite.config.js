// Builds the console into console/dist, from where it is put into the binary. `npm run dev` serves it with the API of a server on port 8000.
// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';

const server = process.env.THORPE_ENDPOINT ?? 'http://127.0.0.1:8000';

export default defineConfig({
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 300 },
  server: {
    proxy: {
      '/console/api': server,
      '/api': server,
      '/media': server,
      '/dynamodb': { target: server, rewrite: () => '/' },
    },
  },
});
