// The mixed load: workers that each know what must come of what they ask for.
// SPDX-License-Identifier: Apache-2.0
import { NoAnswer, ServiceError, canonical } from './client.mjs';
import { ACCOUNTS, OPENING_BALANCE, liveIndex, tmpTable } from './tables.mjs';

const KEYS_PER_OWNER = 10;

/** Whether a request that ended so may have happened nonetheless. */
export const isUnknown = (error) => error instanceof NoAnswer || error.status >= 500;

const number = (n) => ({ N: String(n) });
const isRefusal = (error, name) => error instanceof ServiceError && error.name === name;

// ---------------------------------------------------------------- workers that own keys

const SPARSE = ['a', 'g', 'h', 'k', 'c', 'n', 'pad'];

function padding(rng, isHeavy) {
  if (isHeavy && rng.chance(30)) return 'x'.repeat(rng.below(100_000));
  return 'x'.repeat(rng.chance(10) ? rng.below(6000) : rng.below(60));
}

function sparseAttribute(rng, name, isHeavy) {
  switch (name) {
    case 'a': case 'd': case 'h': return number(rng.below(50));
    case 'n': return number(rng.below(1000));
    case 'pad': return { S: padding(rng, isHeavy) };
    default: return { S: `${name}${rng.below(6)}` };
  }
}

class Owner {
  constructor(load, index, rng) {
    Object.assign(this, { load, rng, model: load.model, client: load.client });
    this.cells = Array.from({ length: KEYS_PER_OWNER }, (_, i) => {
      const key = { pk: { S: `owner#${index % 12}` }, sk: number(index * 100 + i) };
      return this.model.cells.get(`items ${canonical(key)}`) ?? this.model.begin('items', key, null);
    });
    this.bulk = [...this.model.cells.values()]
      .filter((cell) => cell.table === 'bulk' && Number(cell.key.pk.S.slice(5)) % load.owners === index);
  }

  newItem(cell) {
    const item = { ...cell.key, v: number(this.model.nextValue()) };
    const names = cell.table === 'bulk' ? ['c', 'd'] : SPARSE;
    for (const name of names) {
      if (this.rng.chance(60)) item[name] = sparseAttribute(this.rng, name, this.load.isHeavy);
    }
    return item;
  }

  /** An update of one item, and the item that must come of it. */
  newUpdate(cell) {
    const after = { ...(cell.item ?? cell.key), v: number(this.model.nextValue()) };
    const set = ['v = :v'];
    const remove = [];
    const values = { ':v': after.v, ':one': number(1) };
    for (const name of this.rng.sample(['a', 'g', 'h', 'k', 'c'], 2)) {
      if (this.rng.chance(40)) {
        delete after[name];
        remove.push(name);
      } else {
        after[name] = sparseAttribute(this.rng, name);
        values[`:${name}`] = after[name];
        set.push(`${name} = :${name}`);
      }
    }
    after.n = number(Number(cell.item?.n?.N ?? 0) + 1);
    let ConditionExpression = 'attribute_not_exists(pk)';
    if (cell.item) {
      ConditionExpression = 'v = :was';
      values[':was'] = cell.item.v;
    }
    return {
      after,
      request: {
        TableName: cell.table,
        Key: cell.key,
        UpdateExpression: `SET ${set.join()}${remove.length ? ` REMOVE ${remove.join()}` : ''} ADD n :one`,
        ConditionExpression,
        ExpressionAttributeValues: values,
      },
    };
  }

  change(cell, after, operation, request) {
    return this.model.write([{ cell, after }], false, () => this.client.call(operation, request), isUnknown);
  }

  put() {
    const cell = this.rng.pick(this.cells);
    const Item = this.newItem(cell);
    return this.change(cell, Item, 'PutItem', { TableName: cell.table, Item });
  }

  putBulk() {
    const cell = this.rng.pick(this.bulk);
    if (this.rng.chance(10)) return this.change(cell, null, 'DeleteItem', { TableName: 'bulk', Key: cell.key });
    const Item = this.newItem(cell);
    return this.change(cell, Item, 'PutItem', { TableName: 'bulk', Item });
  }

  update() {
    const cell = this.rng.pick(this.cells);
    const { after, request } = this.newUpdate(cell);
    return this.change(cell, after, 'UpdateItem', request);
  }

  remove() {
    const cell = this.rng.pick(this.cells);
    return this.change(cell, null, 'DeleteItem', { TableName: cell.table, Key: cell.key });
  }

  async refusedUpdate() {
    const cell = this.rng.pick(this.cells);
    const { request } = this.newUpdate(cell);
    request.ConditionExpression = 'v = :was';
    request.ExpressionAttributeValues[':was'] = number(-1);
    try {
      await this.client.call('UpdateItem', request);
    } catch (error) {
      if (isRefusal(error, 'ConditionalCheckFailedException')) return;
      throw error;
    }
    this.model.violated('an update whose condition does not hold was made');
  }

  batch() {
    const changes = this.rng.sample(this.cells, this.rng.between(2, 6))
      .map((cell) => ({ cell, after: this.rng.chance(25) ? null : this.newItem(cell) }));
    const items = changes.map(({ cell, after }) => (
      after ? { PutRequest: { Item: after } } : { DeleteRequest: { Key: cell.key } }));
    const send = () => this.client.call('BatchWriteItem', { RequestItems: { items } });
    return this.model.write(changes, false, send, isUnknown);
  }

  transactionParts() {
    const cells = [...this.rng.sample(this.cells, 2), this.rng.pick(this.bulk)];
    return cells.map((cell) => {
      if (cell.table === 'items' && this.rng.chance(50)) {
        const { after, request } = this.newUpdate(cell);
        return { cell, after, action: { Update: request } };
      }
      const after = this.newItem(cell);
      return { cell, after, action: { Put: { TableName: cell.table, Item: after } } };
    });
  }

  transaction() {
    const parts = this.transactionParts();
    return this.model.write(
      parts.map(({ cell, after }) => ({ cell, after })),
      true,
      () => this.client.call('TransactWriteItems', { TransactItems: parts.map((part) => part.action) }),
      isUnknown,
    );
  }

  async refusedTransaction() {
    const actions = this.transactionParts().map((part) => part.action);
    const spoiled = actions[1].Put ?? actions[1].Update;
    spoiled.ConditionExpression = 'v = :never';
    spoiled.ExpressionAttributeValues = { ...spoiled.ExpressionAttributeValues, ':never': number(-1) };
    delete spoiled.ExpressionAttributeValues[':was'];
    try {
      await this.client.call('TransactWriteItems', { TransactItems: actions });
    } catch (error) {
      if (isRefusal(error, 'TransactionCanceledException')) return;
      throw error;
    }
    this.model.violated('a transaction with a condition that does not hold was made');
  }

  async read() {
    const cell = this.rng.pick(this.cells);
    const { Item } = await this.client.call('GetItem', { TableName: cell.table, Key: cell.key, ConsistentRead: true });
    if (canonical(Item ?? null) !== canonical(cell.item)) {
      this.model.violated(`read ${canonical(Item ?? null)}, written was ${canonical(cell.item)}`);
    }
  }

  step() {
    const roll = this.rng.below(100);
    if (roll < 25) return this.put();
    if (roll < 45) return this.update();
    if (roll < 55) return this.remove();
    if (roll < 65) return this.batch();
    if (roll < 78) return this.transaction();
    if (roll < 82) return this.refusedTransaction();
    if (roll < 86) return this.refusedUpdate();
    if (roll < 94) return this.putBulk();
    return this.read();
  }
}

// ---------------------------------------------------------------- transfers

const account = (side, i) => ({ TableName: side, Key: { pk: { S: `account#${i}` } } });

class Teller {
  constructor(load, rng) {
    Object.assign(this, { load, rng, model: load.model, client: load.client });
  }

  newTransfer(id) {
    const amount = this.rng.between(1, 60);
    const [giver, taker] = this.rng.pick([['left', 'right'], ['right', 'left']]);
    const from = `${giver} ${this.rng.below(ACCOUNTS)}`;
    const to = `${taker} ${this.rng.below(ACCOUNTS)}`;
    const value = { ':n': number(amount) };
    return {
      ...(this.rng.chance(70) ? { ClientRequestToken: `transfer-${id}` } : {}),
      TransactItems: [
        {
          Update: {
            ...account(...from.split(' ')),
            UpdateExpression: 'SET balance = balance - :n',
            ConditionExpression: 'balance >= :n',
            ExpressionAttributeValues: value,
          },
        },
        {
          Update: {
            ...account(...to.split(' ')),
            UpdateExpression: 'SET balance = balance + :n',
            ExpressionAttributeValues: value,
          },
        },
        {
          Put: {
            TableName: 'right',
            Item: { pk: { S: `receipt#${id}` }, from: { S: from }, to: { S: to }, amount: number(amount) },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
      ],
    };
  }

  async transfer() {
    const id = this.model.nextValue();
    const request = this.newTransfer(id);
    try {
      await this.client.call('TransactWriteItems', request);
    } catch (error) {
      if (isRefusal(error, 'TransactionCanceledException')) {
        if (error.reasons?.map((reason) => reason.Code).join() !== 'ConditionalCheckFailed,None,None') {
          this.model.violated(`a transfer was cancelled with ${error.message}`);
        }
        return;
      }
      if (isUnknown(error)) this.model.unknownReceipts.set(id, request);
      throw error;
    }
    this.model.receipts.set(id, request);
  }

  /** All accounts at one moment: what they hold together never changes. */
  async audit() {
    const keys = ['left', 'right'].flatMap((side) => Array.from({ length: ACCOUNTS }, (_, i) => account(side, i)));
    const { Responses } = await this.client.call('TransactGetItems', { TransactItems: keys.map((Get) => ({ Get })) });
    const sum = Responses.reduce((total, { Item }) => total + Number(Item.balance.N), 0);
    if (sum !== 2 * ACCOUNTS * OPENING_BALANCE) this.model.violated(`the accounts together hold ${sum}`);
  }

  step() {
    return this.rng.chance(85) ? this.transfer() : this.audit();
  }
}

// ---------------------------------------------------------------- everything else

class Counter {
  constructor(load) {
    Object.assign(this, { model: load.model, client: load.client });
  }

  async step() {
    try {
      await this.client.call('UpdateItem', {
        TableName: 'left',
        Key: { pk: { S: 'counter' } },
        UpdateExpression: 'ADD hits :one',
        ConditionExpression: 'attribute_not_exists(hits) OR hits < :most',
        ExpressionAttributeValues: { ':one': number(1), ':most': number(1e9) },
      });
    } catch (error) {
      if (isUnknown(error)) this.model.counter.unknown += 1;
      throw error;
    }
    this.model.counter.acked += 1;
  }
}

/** Turns something that is there or not: notes what was asked for until it is answered. */
async function flip(state, send) {
  state.next = !state.there;
  try {
    await send();
  } catch (error) {
    if (!isUnknown(error)) state.next = undefined;
    throw error;
  }
  state.there = state.next;
  state.next = undefined;
}

class IndexChanger {
  constructor(load, table, rng) {
    Object.assign(this, { load, table, model: load.model, client: load.client });
    // Then the index stays as it is, to be compared after the crash.
    this.rounds = load.isRestless ? Infinity : rng.below(3);
  }

  async step() {
    const state = this.model.indexes[this.table];
    const { AttributeDefinitions, Create } = liveIndex[this.table];

    if (state.there) {
      const { GlobalSecondaryIndexes = [] } = await this.client.describe(this.table);
      const live = GlobalSecondaryIndexes.find((index) => index.IndexName === 'live');
      if (!live) this.model.violated(`the index ${this.table}.live is gone`);
      if (live?.IndexStatus !== 'ACTIVE') return;
      this.rounds -= 1;
      if (this.rounds < 0) {
        this.isDone = true;
        return;
      }
      await flip(state, () => this.client.call('UpdateTable', {
        TableName: this.table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'live' } }],
      }));
    } else {
      await flip(state, () => this.client.call('UpdateTable', {
        TableName: this.table, AttributeDefinitions, GlobalSecondaryIndexUpdates: [{ Create }],
      }));
    }
  }
}

class TableChanger {
  constructor(load) {
    Object.assign(this, { model: load.model, client: load.client });
  }

  async step() {
    const state = this.model.tmp;

    if (state.there) {
      for (let i = 0; i < 3; i++) {
        await this.client.call('PutItem', { TableName: 'tmp', Item: { pk: { S: `tmp#${i}` } } });
      }
      await flip(state, () => this.client.call('DeleteTable', { TableName: 'tmp' }));
    } else {
      await flip(state, () => this.client.call('CreateTable', tmpTable));
      const { Count } = await this.client.call('Scan', { TableName: 'tmp' });
      if (Count !== 0) this.model.violated('a new table has items of the one that was deleted');
    }
  }
}

class Expirer {
  constructor(load, rng) {
    Object.assign(this, { load, rng, model: load.model, client: load.client });
  }

  async write(entry, after, send) {
    entry.next = after;
    try {
      await send();
    } catch (error) {
      if (!isUnknown(error)) entry.next = undefined;
      throw error;
    }
    entry.now = after;
    entry.next = undefined;
  }

  async put(secondsFromNow) {
    const pk = `ttl#${this.model.nextValue()}`;
    const Item = {
      pk: { S: pk },
      v: number(this.model.nextValue()),
      exp: number(Math.floor(Date.now() / 1000) + secondsFromNow),
    };
    const entry = { now: null, next: undefined };
    this.model.expiring.set(pk, entry);
    await this.write(entry, Item, () => this.client.call('PutItem', { TableName: 'ttl', Item }));
    return entry;
  }

  /** Moves the expiry away; from then on the item must stay, unless it was gone by then. */
  async rescue(entry) {
    const after = { ...entry.now, exp: number(Math.floor(Date.now() / 1000) + 86400) };
    try {
      await this.write(entry, after, () => this.client.call('UpdateItem', {
        TableName: 'ttl',
        Key: { pk: after.pk },
        UpdateExpression: 'SET exp = :exp',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':exp': after.exp },
      }));
    } catch (error) {
      if (!isRefusal(error, 'ConditionalCheckFailedException')) throw error;
      if (Number(entry.now.exp.N) * 1000 > Date.now()) this.model.violated(`${after.pk.S} went before it expired`);
      entry.now = null;
    }
  }

  async step() {
    const entry = await this.put(this.rng.between(-2, 2));
    if (this.rng.chance(50)) await this.rescue(entry);
  }
}

// ---------------------------------------------------------------- together

export class Load {
  /** `isHeavy`: items so large that the store flushes and compacts meanwhile.
   *  `isRestless`: indexes are created and deleted as long as it runs. */
  constructor(client, model, rng, { isHeavy = false, isRestless = false } = {}) {
    const owners = 22;
    Object.assign(this, { client, model, owners, isHeavy, isRestless, stopping: false, answered: 0 });
    this.workers = [
      ...Array.from({ length: owners }, (_, i) => new Owner(this, i, rng.fork())),
      ...Array.from({ length: 4 }, () => new Teller(this, rng.fork())),
      new Counter(this), new Counter(this),
      new IndexChanger(this, 'items', rng.fork()), new IndexChanger(this, 'bulk', rng.fork()),
      new TableChanger(this),
      new Expirer(this, rng.fork()), new Expirer(this, rng.fork()),
    ];
  }

  /** Until stop(), or until the server answers no more. */
  async run() {
    await Promise.all(this.workers.map((worker) => this.runOne(worker)));
  }

  stop() {
    this.stopping = true;
  }

  async runOne(worker) {
    while (!this.stopping && !worker.isDone) {
      try {
        await worker.step();
        this.answered += 1;
      } catch (error) {
        if (error instanceof NoAnswer) return;
        if (!(error instanceof ServiceError)) throw error;
        this.model.violated(`${worker.constructor.name}: unexpected ${error.name}: ${error.message}`);
        return;
      }
    }
  }
}
