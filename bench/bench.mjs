// Measures Thorpe beside its peers and the machine's limits; writes RESULTS.md, results.svg and results.json.
//
//   node bench/bench.mjs [PART…]        api rest steady growth process embedded; none: all of them
//   node bench/bench.mjs --report       only writes RESULTS.md and results.svg anew from results.json
//
// Parts measured before stay in results.json until they are measured again.
//   BENCH_BUILD    where thorpe and the load generators were built (build)
//   BENCH_DIR      where data is kept while measuring; a disk (the directory for temporary files)
//   BENCH_OUT      where results go (bench)
//   BENCH_SECONDS  of each run (2), BENCH_ROUNDS (3)
//   BENCH_ITEMS    sizes of the growth part ("10000 1000000 10000000")
// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT, THORPE, elapsed, program, say, tool } from './lib/run.mjs';
import { load, machine } from './lib/machine.mjs';
import { allow, percent, waited, watch } from './lib/steal.mjs';
import { report } from './lib/report.mjs';
import { api } from './parts/api.mjs';
import { rest } from './parts/rest.mjs';
import { steady } from './parts/steady.mjs';
import { growth } from './parts/growth.mjs';
import { processes } from './parts/process.mjs';
import { embedded } from './parts/embedded.mjs';

const OUT = resolve(ROOT, process.env.BENCH_OUT ?? 'bench');
const seconds = Number(process.env.BENCH_SECONDS ?? 2);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const items = (process.env.BENCH_ITEMS ?? '10000 1000000 10000000').split(/\s+/).map(Number);

const PARTS = {
  api: () => api({ seconds, rounds }),
  rest: () => rest({ seconds, rounds }),
  // A p99 differs more from round to round than a rate does.
  steady: () => steady({ seconds: seconds + 1, rounds: rounds + 2 }),
  growth: () => growth({ seconds: seconds + 1, rounds, items }),
  process: () => processes(),
  embedded: () => embedded({ seconds: Math.max(1, seconds / 2), rounds }),
};

/** How much time there is for quiet moments, where it is not the usual: a p99 needs them most. */
const PATIENCE = { steady: { seconds: 60, share: 0.3 } };

const file = (name) => join(OUT, name);
const saved = existsSync(file('results.json')) ? JSON.parse(readFileSync(file('results.json'), 'utf8')) : { parts: {} };

function write() {
  mkdirSync(OUT, { recursive: true });
  writeFileSync(file('results.json.new'), `${JSON.stringify(saved, null, 1)}\n`);
  renameSync(file('results.json.new'), file('results.json'));
  const { text, picture } = report(saved);
  writeFileSync(file('RESULTS.md'), text);
  if (picture) writeFileSync(file('results.svg'), picture);
}

const fail = (text) => { console.error(`bench: ${text}`); process.exit(1); };

const wanted = process.argv.slice(2).filter((one) => one !== '--report');
for (const name of wanted) if (!PARTS[name]) fail(`there is no part '${name}'; there are ${Object.keys(PARTS).join(', ')}`);
if (process.argv.includes('--report')) {
  if (!Object.keys(saved.parts).length) fail('there is no results.json to report on');
  write();
  process.exit(0);
}
for (const path of [THORPE, ...['embedded', 'steady', 'rocks_limit'].map(program)]) if (!existsSync(path)) fail(`${path} has not been built`);
if (!tool('wrk')) fail('wrk is not installed');
if (load() > 0.5) say(`the machine is busy with other things (load ${load()}): ratios will be noisy`);

let failures = 0;
for (const name of wanted.length ? wanted : Object.keys(PARTS)) {
  const start = elapsed();
  const stolen = watch();
  allow(PATIENCE[name]);
  const about = { date: new Date().toISOString(), machine: machine(), load: load() };
  try {
    const data = await PARTS[name]();
    saved.parts[name] = { ...about, seconds: elapsed() - start, stolen: stolen(), waited: waited(), data };
    write();
    say(`${name} took ${Math.round(elapsed() - start)} s, ${Math.round(waited())} of them for quiet moments; the host took ${percent(stolen())} of the processors`);
  } catch (error) {
    failures += 1;
    say(`${name} was not measured: ${error.stack}`);
  }
}
say(`everything is in ${file('RESULTS.md')}`);
process.exit(failures ? 1 : 0);
