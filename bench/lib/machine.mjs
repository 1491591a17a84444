// Which machine it was, and which versions.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT, SCRATCH, THORPE, output, tool } from './run.mjs';

function disk() {
  const [source, type] = (output('findmnt', '-n', '-o', 'SOURCE,FSTYPE', '-T', SCRATCH) ?? '').split(/\s+/);
  const device = source && output('lsblk', '-n', '-d', '-o', 'MODEL,ROTA', source);
  const kind = device && (/1$/.test(device) ? 'rotating or virtual' : 'not rotating');
  return [type, source && `on ${source.replace('/dev/', '')}`, device?.replace(/\s*[01]$/, ''), kind && `(${kind})`].filter(Boolean).join(' ') || 'unknown';
}

const packageVersion = (name) => {
  const path = join(ROOT, 'bench', 'node_modules', name, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : undefined;
};

export function machine() {
  return {
    processor: cpus()[0].model.trim(),
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    disk: disk(),
    versions: {
      thorpe: [output(THORPE, '--version')?.replace(/^thorpe /, ''), output('git', '-C', ROOT, 'rev-parse', '--short', 'HEAD')].filter(Boolean).join(', commit '),
      node: process.version,
      java: tool('java') && /version "([^"]+)"/.exec(output('sh', '-c', 'java -version 2>&1') ?? '')?.[1],
      nginx: tool('nginx') && /nginx\/(\S+)/.exec(output('sh', '-c', `${tool('nginx')} -v 2>&1`) ?? '')?.[1],
      rocksdb: output('pkg-config', '--modversion', 'rocksdb'),
      dynalite: packageVersion('dynalite'),
    },
  };
}

/** How busy the machine is with other things: figures taken then are of little use. */
export const load = () => Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);
