// What the database must hold: everything acknowledged, and what was in flight when it died.
//
// A key of `items` and `bulk` has one owner, which has one request at a time on it. So its contents are
// known, but for the one request that had no answer: then they are what they were, or what that request
// makes of them. Every write has a value `v` of its own, by which it is recognised in the stream.
// SPDX-License-Identifier: Apache-2.0
import { canonical } from './client.mjs';

class Cell {
  constructor(table, key, item) {
    this.table = table;
    this.key = key;
    this.item = item; // null: absent
    this.history = item ? [{ v: item.v.N, sent: 0, acked: 0 }] : []; // every change made, in order
  }

  /** `change` was made. */
  apply(change) {
    if (!this.item && !change.after) return; // deleting what is not there: no change, no record
    this.item = change.after;
    this.history.push(change.entry);
  }
}

export class Model {
  constructor() {
    this.cells = new Map(); // table and key -> Cell
    this.inFlight = []; // requests without an answer: { changes, atomic }
    this.transactions = []; // the values written by each transaction on cells
    this.receipts = new Map(); // id -> { from, to, amount }, acknowledged
    this.unknownReceipts = new Map(); // id -> the request, in flight
    this.counter = { acked: 0, unknown: 0 };
    this.indexes = { items: this.toggle(false), bulk: this.toggle(false) }; // is `live` there?
    this.tmp = this.toggle(false);
    this.expiring = new Map(); // pk -> { now: item | null, next: item | undefined }
    this.violations = [];
    this.serial = 0;
    this.ticks = 0;
  }

  toggle(there) {
    return { there, next: undefined };
  }

  nextValue() {
    this.serial += 1;
    return this.serial;
  }

  tick() {
    this.ticks += 1;
    return this.ticks;
  }

  violated(what) {
    this.violations.push(what);
  }

  begin(table, key, item) {
    const cell = new Cell(table, key, item);
    this.cells.set(`${table} ${canonical(key)}`, cell);
    return cell;
  }

  /** Sends a request that makes `changes` ({ cell, after }) and notes how it ended. */
  async write(changes, atomic, send, isUnknown) {
    const sent = this.tick();
    for (const change of changes) {
      change.entry = { v: change.after?.v.N ?? null, sent, acked: Infinity };
    }
    if (atomic && changes.length > 1) this.transactions.push(changes.map((change) => change.entry.v));
    try {
      await send();
    } catch (error) {
      if (isUnknown(error)) this.inFlight.push({ changes, atomic });
      throw error;
    }
    const acked = this.tick();
    for (const change of changes) {
      change.entry.acked = acked;
      change.cell.apply(change);
    }
  }

  /** Compares with what is there after a crash, and settles what was in flight.
   *  `found` maps a cell to its item, or null. */
  settle(found) {
    for (const { changes, atomic } of this.inFlight) {
      const happened = changes.map((change) => {
        const now = found(change.cell);
        return canonical(now) === canonical(change.after) && canonical(now) !== canonical(change.cell.item);
      });
      const visible = changes.filter((change) => canonical(change.cell.item) !== canonical(change.after));
      const count = happened.filter(Boolean).length;
      if (atomic && count !== 0 && count !== visible.length) {
        this.violated(`a transaction is there by half: ${count} of ${visible.length} changes`);
      }
      changes.forEach((change, i) => { if (happened[i]) change.cell.apply(change); });
    }
    this.inFlight = [];
    for (const cell of this.cells.values()) {
      const now = found(cell);
      if (canonical(now) === canonical(cell.item)) continue;
      this.violated(`${cell.table} ${canonical(cell.key)} holds ${canonical(now)}, `
        + `acknowledged was ${canonical(cell.item)}`);
      cell.item = now;
    }
  }

  /** Takes what is there as it is: after a crash that may have lost the last moments. */
  adopt(found) {
    this.inFlight = [];
    for (const cell of this.cells.values()) cell.item = found(cell);
  }
}
