// What must be true of the streams: their order is the commit order, and they tell the whole story.
// SPDX-License-Identifier: Apache-2.0
import { canonical, keyOf } from './client.mjs';

const EVENTS = { 'absent present': 'INSERT', 'present present': 'MODIFY', 'present absent': 'REMOVE' };
const presence = (image) => (image ? 'present' : 'absent');

function checkOrder(model, name, shards) {
  const seen = new Set();
  for (const records of shards) {
    let last = -1n;
    for (const { dynamodb } of records) {
      const sequence = BigInt(dynamodb.SequenceNumber);
      if (sequence <= last) model.violated(`stream of ${name}: ${sequence} follows ${last} in a shard`);
      if (seen.has(sequence)) model.violated(`stream of ${name}: ${sequence} is there twice`);
      seen.add(sequence);
      last = sequence;
    }
  }
}

/** Replays a stream from its beginning: what comes of it must be the table. Gives back the records by
 *  key, each key's in their order. */
export function checkStream(model, table, shards, items) {
  const name = table.TableName;
  const state = new Map();
  const byKey = new Map();
  const shardOf = new Map();

  checkOrder(model, name, shards);
  shards.forEach((records, shard) => {
    for (const record of records) {
      const { Keys, OldImage, NewImage } = record.dynamodb;
      const key = canonical(Keys);
      if ((shardOf.get(key) ?? shard) !== shard) model.violated(`stream of ${name}: ${key} is in two shards`);
      shardOf.set(key, shard);
      if (canonical(OldImage ?? null) !== canonical(state.get(key) ?? null)) {
        model.violated(`stream of ${name}: the old image of ${key} is ${canonical(OldImage ?? null)}, `
          + `before it was ${canonical(state.get(key) ?? null)}`);
      }
      if (record.eventName !== EVENTS[`${presence(OldImage)} ${presence(NewImage)}`]) {
        model.violated(`stream of ${name}: ${key} has a wrong ${record.eventName}`);
      }
      if (NewImage) state.set(key, NewImage);
      else state.delete(key);
      if (!byKey.has(key)) byKey.set(key, []);
      byKey.get(key).push(record);
    }
  });
  const there = new Set();
  for (const item of items) {
    const key = canonical(keyOf(table, item));
    const replayed = canonical(state.get(key) ?? null);
    there.add(key);
    if (replayed !== canonical(item)) {
      model.violated(`stream of ${name}: replayed, ${key} is ${replayed}, the table has ${canonical(item)}`);
    }
  }
  for (const key of state.keys()) {
    if (!there.has(key)) model.violated(`stream of ${name}: replayed, ${key} is there; in the table it is not`);
  }
  return byKey;
}

/** A request that was answered before another was sent has the lower sequence number. */
function checkRealTime(model, name, changes) {
  let earliestAnswer = Infinity;
  changes.sort((a, b) => (a.sequence < b.sequence ? 1 : -1));
  for (const { sequence, entry } of changes) {
    if (earliestAnswer < entry.sent) {
      model.violated(`stream of ${name}: ${sequence} is before a change that was answered before it was asked for`);
      return;
    }
    earliestAnswer = Math.min(earliestAnswer, entry.acked);
  }
}

/** Every change made has its record, in order, and nothing else has one. `values` collects what was
 *  written in all tables, by which transactions are seen to be whole. */
export function checkHistory(model, name, byKey, values, strict) {
  const changes = [];
  const valueOf = (record) => record.dynamodb.NewImage?.v.N ?? null;

  for (const records of byKey.values()) {
    for (const record of records) values.set(valueOf(record), true);
  }
  for (const cell of strict ? model.cells.values() : []) {
    if (cell.table !== name) continue;
    const records = byKey.get(canonical(cell.key)) ?? [];
    const told = records.map(valueOf).join();
    const made = cell.history.map((entry) => entry.v).join();
    if (told !== made) {
      model.violated(`stream of ${name}: ${canonical(cell.key)} tells ${told}; made was ${made}`);
    } else {
      records.forEach((record, i) => changes.push({
        sequence: BigInt(record.dynamodb.SequenceNumber), entry: cell.history[i],
      }));
    }
  }
  checkRealTime(model, name, changes);
  if (name !== 'bulk') return; // the last table that transactions write to
  for (const written of model.transactions) {
    const count = written.filter((v) => values.has(v)).length;
    if (count !== 0 && count !== written.length) {
      model.violated(`of a transaction of ${written.length} changes ${count} have a record`);
    }
  }
}
