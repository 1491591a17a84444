// Transactions: all or nothing, reasons in order, tokens, limits, and isolation under concurrency.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createTable, ddb, doc, freshName, invalid, rejects } from './harness.mjs';

const One = await createTable({ key: ['pk'] });
const Two = await createTable({ key: ['pk', 'sk:N'] });
const get = async (pk) => (await doc.get({ TableName: One, Key: { pk }, ConsistentRead: true })).Item;
const put = (pk, rest = {}, extra = {}) => ({ Put: { TableName: One, Item: { pk, ...rest }, ...extra } });
const write = (...TransactItems) => doc.transactWrite({ TransactItems });

async function cancelled(promise, ...codes) {
  const error = await rejects(promise, 'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`);
  assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), codes);
  return error.CancellationReasons;
}

test('put, update, delete and check happen together', async () => {
  await doc.put({ TableName: One, Item: { pk: 'upd', n: 1 } });
  await doc.put({ TableName: One, Item: { pk: 'del' } });
  await doc.put({ TableName: Two, Item: { pk: 'chk', sk: 1, ok: true } });
  await write(
    put('put', { v: 1 }),
    { Update: { TableName: One, Key: { pk: 'upd' }, UpdateExpression: 'SET n = n + :one', ExpressionAttributeValues: { ':one': 1 } } },
    { Delete: { TableName: One, Key: { pk: 'del' } } },
    { ConditionCheck: { TableName: Two, Key: { pk: 'chk', sk: 1 }, ConditionExpression: 'ok = :t', ExpressionAttributeValues: { ':t': true } } },
  );
  assert.deepEqual(await get('put'), { pk: 'put', v: 1 });
  assert.deepEqual(await get('upd'), { pk: 'upd', n: 2 });
  assert.equal(await get('del'), undefined);
});

test('one failed condition undoes everything, and the reasons say which', async () => {
  await doc.put({ TableName: One, Item: { pk: 'exists', v: 'old' } });
  const reasons = await cancelled(write(
    put('never'),
    put('exists', { v: 'new' }, { ConditionExpression: 'attribute_not_exists(pk)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
    { Delete: { TableName: One, Key: { pk: 'exists-not' }, ConditionExpression: 'attribute_exists(pk)' } },
  ), 'None', 'ConditionalCheckFailed', 'ConditionalCheckFailed');
  assert.equal(reasons[0].Message, undefined);
  assert.equal(reasons[1].Message, 'The conditional request failed');
  assert.deepEqual(reasons[1].Item, { pk: { S: 'exists' }, v: { S: 'old' } });
  assert.equal(reasons[2].Item, undefined);
  assert.equal(await get('never'), undefined);
  assert.deepEqual(await get('exists'), { pk: 'exists', v: 'old' });
});

test('an update that cannot be applied is a ValidationError among the reasons', async () => {
  await doc.put({ TableName: One, Item: { pk: 'text', v: 'x' } });
  const reasons = await cancelled(write(
    put('never2'),
    { Update: { TableName: One, Key: { pk: 'text' }, UpdateExpression: 'SET v = v + :n', ExpressionAttributeValues: { ':n': 1 } } },
  ), 'None', 'ValidationError');
  assert.equal(reasons[1].Message, 'An operand in the update expression has an incorrect data type');
  assert.equal(await get('never2'), undefined);
});

test('two actions on one item are refused', async () => {
  const message = 'Transaction request cannot include multiple operations on one item';
  await invalid(write(put('twice'), { Delete: { TableName: One, Key: { pk: 'twice' } } }), message);
  await invalid(write(put('twice'), { ConditionCheck: { TableName: One, Key: { pk: 'twice' }, ConditionExpression: 'attribute_exists(pk)' } }), message);
  assert.equal(await get('twice'), undefined);
});

test('the same token does the work once', async () => {
  const ClientRequestToken = randomUUID();
  const TransactItems = [{ Update: { TableName: One, Key: { pk: 'token' }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } } }];
  await doc.transactWrite({ TransactItems, ClientRequestToken });
  await doc.transactWrite({ TransactItems, ClientRequestToken });
  await Promise.all([1, 2, 3].map(() => doc.transactWrite({ TransactItems, ClientRequestToken })));
  assert.equal((await get('token')).n, 1);
  await rejects(doc.transactWrite({ TransactItems: [put('other-work')], ClientRequestToken }), 'IdempotentParameterMismatchException');
  assert.equal(await get('other-work'), undefined);
  await doc.transactWrite({ TransactItems, ClientRequestToken: randomUUID() });
  assert.equal((await get('token')).n, 2);
  await invalid(doc.transactWrite({ TransactItems, ClientRequestToken: 'x'.repeat(37) }), /length less than or equal to 36/);
});

test('100 actions fit, 101 do not', async () => {
  const actions = (count) => Array.from({ length: count }, (_, i) => put(`many${i}`));
  await write(...actions(100));
  assert.ok(await get('many99'));
  await invalid(write(...actions(101)), /^1 validation error detected: Value '\[.+\]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/s);
  await invalid(write(), "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1");
});

test('4 MB fit, more does not', async () => {
  const actions = (count) => Array.from({ length: count }, (_, i) => put(`big${i}`, { data: 'x'.repeat(380 * 1024) }));
  await write(...actions(10));
  await invalid(write(...actions(12)));
});

test('transactions that make no sense', async () => {
  await invalid(write({}), /^(TransactItems can only contain one of Check, Put, Update or Delete|Invalid Request: TransactWriteRequest should contain Delete or Put or Update request)$/);
  await invalid(write({ ...put('a'), Delete: { TableName: One, Key: { pk: 'b' } } }), /^TransactItems can only contain one of Check, Put, Update or Delete$/);
  await rejects(write({ Put: { TableName: freshName('absent'), Item: { pk: 'a' } } }), 'ResourceNotFoundException', 'Requested resource not found');
  await invalid(write({ Update: { TableName: One, Key: { pk: 'a' }, UpdateExpression: 'NONSENSE' } }), /Invalid UpdateExpression/);
});

test('a transactional read returns items in order, with gaps', async () => {
  await doc.put({ TableName: One, Item: { pk: 'r1', a: 1, b: 2 } });
  await doc.put({ TableName: Two, Item: { pk: 'r2', sk: 5 } });
  const { Responses } = await doc.transactGet({
    TransactItems: [
      { Get: { TableName: Two, Key: { pk: 'r2', sk: 5 } } },
      { Get: { TableName: One, Key: { pk: 'absent' } } },
      { Get: { TableName: One, Key: { pk: 'r1' }, ProjectionExpression: '#b', ExpressionAttributeNames: { '#b': 'b' } } },
    ],
  });
  assert.deepEqual(Responses.map(({ Item }) => Item), [{ pk: 'r2', sk: 5 }, undefined, { b: 2 }]);
});

test('transactional reads that make no sense', async () => {
  const read = (...TransactItems) => doc.transactGet({ TransactItems });
  await invalid(read({ Get: { TableName: One, Key: { pk: 'a' } } }, { Get: { TableName: One, Key: { pk: 'a' } } }),
    'Transaction request cannot include multiple operations on one item');
  await invalid(read(), "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1");
  await rejects(read({ Get: { TableName: freshName('absent'), Key: { pk: 'a' } } }), 'ResourceNotFoundException', 'Requested resource not found');
  await cancelled(read({ Get: { TableName: One, Key: { pk: 'a' } } }, { Get: { TableName: Two, Key: { pk: 'a' } } }), 'None', 'ValidationError');
});

test('money moved by concurrent transactions is neither made nor lost, and reads never see half', async () => {
  const accounts = ['acc0', 'acc1', 'acc2'];
  for (const pk of accounts) await doc.put({ TableName: One, Item: { pk, money: 100 } });
  const retry = async (work) => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const reasons = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
        if (error.name !== 'TransactionConflictException' && !reasons.includes('TransactionConflict')) throw error;
      }
    }
  };
  let moving = true;
  const reader = (async () => {
    while (moving) {
      const { Responses } = await retry(() => doc.transactGet({ TransactItems: accounts.map((pk) => ({ Get: { TableName: One, Key: { pk } } })) }));
      assert.equal(Responses.reduce((sum, { Item }) => sum + Item.money, 0), 300);
    }
  })();
  await Promise.all(Array.from({ length: 60 }, (_, i) => retry(() => write(
    { Update: { TableName: One, Key: { pk: accounts[i % 3] }, UpdateExpression: 'SET money = money - :v', ExpressionAttributeValues: { ':v': i } } },
    { Update: { TableName: One, Key: { pk: accounts[(i + 1) % 3] }, UpdateExpression: 'SET money = money + :v', ExpressionAttributeValues: { ':v': i } } },
  ))));
  moving = false;
  await reader;
});

test('the first action that makes no sense is the only one told of', async () => {
  const error = await rejects(ddb.transactWriteItems({
    TransactItems: [
      { Put: { TableName: One, Item: { pk: { N: '7' } } } },
      { Put: { TableName: One, Item: { pk: { N: '8' } } } },
      { Put: { TableName: One, Item: { pk: { S: 'absent' } }, ConditionExpression: 'attribute_exists(pk)' } },
    ],
  }), 'TransactionCanceledException');
  assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ['ValidationError', 'None', 'None']);
  assert.equal(error.CancellationReasons[1].Message, undefined);
});

test('a transaction carries 4 MB', async () => {
  const big = 'x'.repeat(399_000);
  const TransactItems = Array.from({ length: 11 }, (_, i) => ({ Put: { TableName: One, Item: { pk: { S: `b${i}` }, big: { S: big } } } }));
  await invalid(ddb.transactWriteItems({ TransactItems }), /^Transaction payload size cannot exceed 4MB\. Payload Size: \d+$/);
});
