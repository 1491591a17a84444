// DynamoDB's operations, one contestant after the other and round after round, beside what nginx and RocksDB alone can do.
// SPDX-License-Identifier: Apache-2.0
import { drained, memory, say } from '../lib/run.mjs';
import { letRun, rocksLimit, summary, wrk } from '../lib/measure.mjs';
import { calmly } from '../lib/steal.mjs';
import { fillServer, hasDynalite, hasLocal, hasNginx, samplesOf, startDynalite, startLocal, startNginx, startThorpe, writesOf } from '../lib/servers.mjs';
import { captureBatches } from '../lib/limits.mjs';
import { OPERATIONS, operationFile } from '../lib/templates.mjs';

/** What is measured: the operation, and which contestants there are for it, in the order of their turns: the limit right after Thorpe, because the machine changes within seconds. */
export const MEASURED = {
  GetItem: { contestants: ['thorpe', 'nginx', 'dynalite', 'local'] },
  Query: { contestants: ['thorpe', 'nginx', 'dynalite', 'local'] },
  BatchGetItem: { contestants: ['thorpe', 'nginx', 'dynalite', 'local'] },
  PutItem: { contestants: ['thorpe', 'fdatasync', 'rocksdb', 'rocksdb merged', 'dynalite', 'local'] },
  'PutItem relaxed': { operation: 'PutItem', contestants: ['thorpe relaxed', 'rocksdb relaxed'] },
  UpdateItem: { contestants: ['thorpe', 'rocksdb', 'rocksdb merged', 'dynalite', 'local'] },
  BatchWriteItem: { contestants: ['thorpe', 'rocksdb', 'dynalite', 'local'] },
  Follow: { contestants: ['thorpe', 'rocksdb', 'local'] }, // dynalite has no transactions
  // Last, when every item has been written over many times: a walk may have to pass old versions.
  'Query after writes': { operation: 'Query', contestants: ['thorpe', 'nginx', 'dynalite', 'local'] },
};
const operationOf = (name) => MEASURED[name].operation ?? name;

const show = (n) => (n === undefined ? '–' : Math.round(n).toLocaleString('en'));

/** Starts and fills one; says so and leaves it out when that fails. */
async function enter(start, name, users, notes) {
  let server;
  try {
    server = await start();
    await fillServer(server, users);
    say(`${name} is up and has ${show(users * 21)} items`);
    return server;
  } catch (error) {
    say(`${name} does not take part: ${error.message}`);
    notes.push(`${name} did not take part: ${error.message}`);
    await server?.kill();
    return undefined;
  }
}

/** All must give the same for the same request, before and after writing; says who does not. */
async function compare(servers, users, notes) {
  const [thorpe] = servers;
  const reads = await samplesOf(thorpe);
  const same = (one, what, wanted, got) => {
    if (wanted === got) return;
    say(`${one.name}: ${what} differs from Thorpe's`);
    notes.push(`${one.name}: its answer to ${what} differs from Thorpe's`);
  };
  const common = ['PutItem', 'UpdateItem', 'BatchWriteItem'];
  const writes = await writesOf(thorpe, users - 1, common);
  for (const one of servers.slice(1)) {
    const theirs = await samplesOf(one);
    for (const name of Object.keys(reads)) same(one, name, reads[name].essence, theirs[name].essence);
    same(one, 'reading after writing', writes, await writesOf(one, users - 1, common));
  }
  return reads;
}

export async function startContestants({ users, wanted, notes }) {
  const servers = [];
  const take = async (start, name) => {
    const server = wanted(name) && await enter(start, name, users, notes);
    if (server) servers.push(server);
  };
  await take(() => startThorpe(), 'thorpe');
  if (!servers.length) throw new Error('Thorpe does not start');
  await take(() => startThorpe({ name: 'thorpe relaxed', args: ['--durability', 'relaxed'] }), 'thorpe relaxed');
  if (hasDynalite()) await take(startDynalite, 'dynalite');
  else notes.push('dynalite is not installed');
  if (hasLocal()) await take(startLocal, 'local');
  else notes.push('DynamoDB Local or Java is not installed');
  const samples = await compare(servers, users, notes);
  let nginx;
  if (hasNginx()) nginx = await startNginx(samples).catch((error) => { notes.push(`nginx did not take part: ${error.message}`); });
  else notes.push('nginx is not installed');
  const bytes = Object.fromEntries(Object.entries(samples).map(([name, { text }]) => [name, text.length]));
  return { servers, nginx, bytes };
}

/** Asks everyone for a while, so that compilers have compiled and caches are warm. Just before an operation is measured, so that reads see the data as it was loaded. */
async function warmUp({ servers }, name, users, seconds) {
  for (const server of servers.filter((one) => MEASURED[name].contestants.includes(one.name))) {
    letRun(server, servers);
    try {
      await patiently(server, operationFile(operationOf(name), users), 16, seconds[server.name] ?? 1);
    } catch (error) {
      say(`${server.name}, warming up, ${name}: ${error.message}`);
    }
  }
}

/** A slow server gets more time for its first answer, and time to finish what it has been asked before it is frozen. */
async function patiently(server, file, connections, seconds) {
  try {
    return await wrk(server, file, connections, seconds).catch((error) => {
      if (error.silent) return wrk(server, file, connections, 4 * seconds);
      throw error;
    });
  } finally {
    if (!server.name.startsWith('thorpe')) await drained(server.run);
  }
}

function runner({ servers, nginx, logs, users, seconds }) {
  const relaxed = (name) => (name.includes('relaxed') ? 'relaxed' : 'synced');
  return async (contestant, name, connections) => { // gives nothing when there is nothing to measure
    const operation = operationOf(name);
    letRun(servers.find((one) => one.name === contestant), servers);
    if (contestant.startsWith('rocksdb')) {
      return logs?.[operation] && rocksLimit(contestant.includes('merged') ? 'merged' : 'threads', logs[operation], connections, seconds, relaxed(contestant));
    }
    if (contestant === 'fdatasync') return logs?.[operation] && connections === 1 ? rocksLimit('fdatasync', logs[operation], '-', seconds, '-') : undefined;
    if (contestant === 'nginx') return nginx?.ports[operation] && wrk(nginx.on(operation), operationFile(operation, users), connections, seconds);
    const server = servers.find((one) => one.name === contestant);
    return server && patiently(server, operationFile(operation, users), connections, seconds);
  };
}

/** name -> connections -> contestant -> rounds. */
export async function measureOperations(field, { names, connections, rounds, users, seconds, warm, title, wanted }) {
  const results = {};
  const run = runner({ ...field, users, seconds });
  const failing = {};
  let step = 0;
  for (const name of names) {
    await warmUp(field, name, users, warm);
    for (const n of connections) {
      const found = {};
      for (let round = 0; round < rounds; round += 1) {
        for (const contestant of MEASURED[name].contestants.filter(wanted)) {
          const key = `${contestant} ${name} ${n}`;
          if (failing[key]) continue;
          try {
            const result = await calmly(() => run(contestant, name, n));
            if (result) (found[contestant] ??= [])[round] = result;
          } catch (error) {
            failing[key] = true;
            (found[contestant] ??= [])[round] = { failed: error.message };
            say(`${contestant}, ${name}, ${n} connections: ${error.message}`);
          }
        }
      }
      (results[name] ??= {})[n] = found;
      step += 1;
      const rates = Object.entries(found).map(([who, all]) => `${who} ${show(summary(all)?.rate)}`).join(', ');
      say(`${title} ${step}/${names.length * connections.length}: ${name}, ${n} connection${n > 1 ? 's' : ''}: ${rates} a second`);
    }
  }
  return results;
}

const peaks = (servers) => Object.fromEntries(servers.map(({ name, run }) => [name, memory(run, 'VmHWM')]));

export async function api({ users = 1000, connections = [1, 64, 256], rounds = 3, seconds = 2, names = Object.keys(MEASURED), warm = { local: 6, dynalite: 2 }, title = 'api', wanted = () => true } = {}) {
  const notes = [];
  const field = await startContestants({ users, wanted, notes });
  try {
    const writes = [...new Set(names.map(operationOf).filter((name) => !OPERATIONS[name].reads))];
    letRun(undefined, field.servers);
    field.logs = await captureBatches(writes, users).catch((error) => { notes.push(`RocksDB alone was not measured: ${error.message}`); say(notes.at(-1)); });
    const results = await measureOperations(field, { names, connections, rounds, users, seconds, warm, title, wanted });
    return { users, rounds, seconds, bytes: field.bytes, results, memory: peaks(field.servers), version: field.servers.find((one) => one.name === 'local')?.version, notes };
  } finally {
    for (const server of field.servers) await server.kill();
    await field.nginx?.stop();
  }
}
