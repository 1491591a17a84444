// A full disk: writes are refused with an error, reads and deletions go on, nothing acknowledged is lost, and writing
// goes on when there is room again, also when the server was started on the full disk. FULL_ROUNDS=N for more rounds of filling and
// emptying under load. The data stands on a small file system in a mount namespace of its own; skipped, in a sentence, where that is not allowed.
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, NoAnswer, canonical } from './lib/client.mjs';
import { report } from './lib/report.mjs';
import { Server, verify } from './lib/server.mjs';

const SKIPPED = 77; // as meson reads it
const DISK_MB = 96;
const VALUE_BYTES = 20_000;
const WORKERS = 8;
const RECOVERY_MS = 20_000;
const ROOM_BACK_MS = 60_000;
const ROUNDS = Number(process.env.FULL_ROUNDS ?? 4);
const FULL = 'The write was refused: no space left on the disk of the database. Deleting still works';

/** Runs a shell command in a mount namespace of its own, with the small disk on `dir`. */
function onSmallDisk(dir, command, args, stdio) {
  const namespace = process.getuid() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];
  const script = `mount -t tmpfs -o size=${DISK_MB}m tmpfs "$1" && ${command}`;
  return spawnSync('unshare', [...namespace, 'sh', '-c', script, 'sh', dir, ...args], { stdio }).status;
}

/** Runs this file again with the small disk; does not return. */
function enterNamespace() {
  const dir = mkdtempSync(join(tmpdir(), 'thorpe-disk-'));
  let status = SKIPPED;
  if (onSmallDisk(dir, 'true', [], 'ignore') === 0) {
    status = onSmallDisk(dir, 'exec "$2" "$3" "$1"', [process.execPath, fileURLToPath(import.meta.url)], 'inherit');
  } else {
    console.log('skipped: mounting a small file system is not allowed here (it needs root or user namespaces)');
    console.log('0 passed, 0 failed');
  }
  rmdirSync(dir);
  process.exit(status ?? 1);
}

const disk = process.argv[2] ?? enterNamespace();
const data = join(disk, 'data');
const ballast = join(disk, 'ballast');

/** Takes all the room there is, for as long as `ballast` is there. */
function takeRoom() {
  const zeros = Buffer.alloc(4096);
  const fd = openSync(ballast, 'a');
  try {
    for (;;) writeSync(fd, zeros);
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}

class Disk {
  constructor() {
    this.acknowledged = new Map();
    this.unknown = new Map(); // refused or without an answer: may be there or not
    this.violations = [];
    this.next = 0;
  }

  async open() {
    this.server = await Server.start(data);
    this.client = new Client(this.server.port);
  }

  /** Status and first line of a page that is for those who watch. */
  async look(path) {
    const response = await fetch(`http://127.0.0.1:${this.server.port}${path}`);
    return `${response.status} ${(await response.text()).split('\n')[0]}`;
  }

  /** Waits until `path` answers with something that begins so. */
  async until(path, wanted, ms) {
    const began = Date.now();
    for (;;) {
      const now = await this.look(path);
      if (now.startsWith(wanted)) return Date.now() - began;
      if (Date.now() - began > ms) throw new Error(`${path} still says "${now}" after ${ms / 1000} s: ${this.server.log.slice(-2000)}`);
      await new Promise((resume) => { setTimeout(resume, 100); });
    }
  }

  async stop() {
    this.client.close();
    await this.server.stop();
  }

  violated(what) {
    this.violations.push(what);
  }

  /** True when it was acknowledged; false when it was refused as it should be. */
  async put() {
    const pk = `key#${this.next++}`;
    // Different bytes each time: compression would make room.
    const value = Array.from({ length: VALUE_BYTES / 8 }, () => Math.random().toString(36).slice(2, 10)).join('');
    const Item = { pk: { S: pk }, g: { S: `g${this.next % 5}` }, value: { S: value } };
    try {
      await this.client.call('PutItem', { TableName: 'full', Item });
    } catch (error) {
      this.unknown.set(pk, Item);
      if (error instanceof NoAnswer) throw new Error(`${error.message}; the server's log: ${this.server.log.slice(-2000)}`);
      if (error.status !== 500 || error.name !== 'InternalServerError' || error.message !== FULL) {
        this.violated(`a write on a full disk ended with ${error.status} ${error.name}: ${error.message}`);
      }
      return false;
    }
    this.acknowledged.set(pk, Item);
    return true;
  }

  /** True when it was done; false when it was refused as it should be. */
  async remove(pk) {
    try {
      await this.persist(() => this.client.call('DeleteItem', { TableName: 'full', Key: { pk: { S: pk } } }));
    } catch (error) {
      if (error.status !== 500) throw error;
      this.refusal = error.message;
      this.unknown.set(pk, this.acknowledged.get(pk));
      this.acknowledged.delete(pk);
      return false;
    }
    this.acknowledged.delete(pk);
    return true;
  }

  /** What must work on a full disk; a flush that met its end in the middle takes RocksDB some seconds to get over. */
  async persist(action) {
    for (const began = Date.now(); ;) {
      try {
        return await action();
      } catch (error) {
        if (error.message !== FULL || Date.now() - began > RECOVERY_MS) throw error;
      }
      await new Promise((resume) => { setTimeout(resume, 100); });
    }
  }

  dropTable() {
    this.acknowledged.clear();
    this.unknown.clear();
    return this.persist(() => this.client.call('DeleteTable', { TableName: 'full' }));
  }

  /** Deletions must be done on a full disk. */
  async removeSome(n) {
    const some = [...this.acknowledged.keys()].slice(0, n);
    const done = (await Promise.all(some.map((pk) => this.remove(pk)))).filter(Boolean).length;
    if (done !== some.length) this.violated(`${some.length - done} of ${some.length} deletions were refused (${this.refusal}): ${this.server.log.slice(-1500)}`);
    return done;
  }

  async fill() {
    let written = 0;
    const work = async () => {
      while (await this.put()) written += 1;
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    return written;
  }

  async checkReads() {
    const items = new Map((await this.client.scan('full')).map((item) => [item.pk.S, item]));
    for (const [pk, item] of this.acknowledged) {
      if (canonical(items.get(pk) ?? null) !== canonical(item)) this.violated(`${pk} was acknowledged and is lost`);
    }
    for (const pk of items.keys()) {
      if (!this.acknowledged.has(pk) && !this.unknown.has(pk)) this.violated(`nobody wrote ${pk}`);
    }
    const entries = await this.client.scan('full', 'byG');
    if (entries.length !== items.size) {
      this.violated(`the index has ${entries.length} entries, the table ${items.size} items`);
    }
    const { ItemCount } = await this.client.describe('full');
    if (ItemCount !== items.size) this.violated(`ItemCount is ${ItemCount}, there are ${items.size} items`);
    return items.size;
  }

  async writesAgain() {
    const began = Date.now();
    while (!await this.put()) {
      if (Date.now() - began > RECOVERY_MS) {
        this.violated(`writes are still refused ${RECOVERY_MS / 1000} s after there was room`);
        break;
      }
      await new Promise((resume) => { setTimeout(resume, 50); });
    }
    return Date.now() - began;
  }
}

await report(`full disk of ${DISK_MB} MB`, async (tally) => {
  const state = new Disk();
  const run = (what, body) => tally.run(async () => `${what} (${await body()})`, state);

  await state.open();
  const create = (TableName) => state.client.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'g', AttributeType: 'S' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byG',
        KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
  });
  await create('full');
  for (let i = 0; i < 50; i++) await state.put();
  await run('another program takes the room: writes are refused', async () => {
    takeRoom();
    const written = await state.fill();
    return `${written} more were written`;
  });
  await run('reads go on', () => state.checkReads());
  await run('it is alive and not ready, and says why', async () => {
    await state.until('/readyz', '503 the disk is full', 5000);
    if (await state.look('/healthz') !== '200 ok') state.violated('a full disk is no reason to restart');
    return state.look('/readyz');
  });
  await run('deletions work where another program has taken all room', () => state.removeSome(5));
  await run('killed and started there, it serves reads, refuses writes and takes deletions', async () => {
    for (let i = 0; i < 3; i++) {
      await state.server.kill();
      state.client.close();
      takeRoom();
      await state.open();
      await state.checkReads();
      takeRoom(); // what the journal did not need any more
      if (await state.put()) state.violated('a write was taken on a full disk');
      await state.until('/readyz', '503 the disk is full', 5000);
      await state.removeSome(2);
    }
    return state.checkReads();
  });
  await run('with room again, it is ready by itself', async () => {
    rmSync(ballast);
    return `after ${await state.until('/readyz', '200 ok', RECOVERY_MS)} ms`;
  });
  await run('another program takes the room again', async () => {
    takeRoom();
    return state.fill();
  });
  await run('with room again, writes work again', async () => {
    rmSync(ballast);
    return `after ${await state.writesAgain()} ms`;
  });
  await run('filled by the data itself: writes are refused', async () => `${await state.fill()} items`);
  await run('reads go on', () => state.checkReads());
  await run('deletions work where the data itself has taken the room', async () => {
    const done = await state.removeSome(20);
    await state.checkReads();
    return done;
  });
  await run('killed on the full disk, it opens and serves', async () => {
    await state.server.kill();
    state.client.close();
    await state.open();
    return state.checkReads();
  });
  await run('dropping the table gives the room back', async () => {
    await state.dropTable();
    const ms = await state.until('/readyz', '200 ok', ROOM_BACK_MS);
    await create('full');
    return `after ${ms} ms`;
  });
  for (let i = 1; i <= ROUNDS; i++) {
    await run(`round ${i}: filled under load`, async () => {
      const filling = state.fill();
      const blocks = state.put().then(() => takeRoom());
      return `${await filling} items ${await blocks ?? ''}`;
    });
    await run(`round ${i}: emptied under load${i % 2 ? '' : ', and killed'}`, async () => {
      if (i % 2 === 0) {
        await state.server.kill();
        state.client.close();
        await state.open();
      }
      await state.removeSome(10);
      rmSync(ballast);
      await state.dropTable();
      const ms = await state.until('/readyz', '200 ok', ROOM_BACK_MS);
      await create('full');
      for (let k = 0; k < 20; k++) await state.put();
      return `${await state.checkReads()} items, room after ${ms} ms`;
    });
  }
  await run('filled by the data itself, and emptied item by item: the room comes back', async () => {
    const items = await state.fill();
    const began = Date.now();
    while (state.acknowledged.size) await state.removeSome(100);
    const ms = Date.now() - began;
    return `${items} items, deleted in ${ms} ms, room ${await state.until('/readyz', '200 ok', ROOM_BACK_MS)} ms after`;
  });
  await run('writes work again', async () => `after ${await state.writesAgain()} ms`);
  await run('filled by the data itself once more', async () => `${await state.fill()} items`);
  await run('killed on the full disk', async () => {
    await state.server.kill();
    state.client.close();
    return 'nothing follows';
  });
  await run('with a larger disk it opens and nothing acknowledged is lost', async () => {
    spawnSync('mount', ['-o', `remount,size=${2 * DISK_MB}m`, disk]);
    await state.open();
    return state.checkReads();
  });
  await run('writes work again', async () => `after ${await state.writesAgain()} ms`);
  await run('stopped and verified, everything agrees', async () => {
    await state.stop();
    await verify(data);
    await state.open();
    const count = await state.checkReads();
    await state.stop();
    return `${count} items`;
  });
});
