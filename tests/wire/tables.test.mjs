// Tables: created, described, listed, deleted, tagged; and what is refused.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  call, createTable, ddb, errorName, freshName, invalid, putAll, rejects, tableRequest, thorpeTest, until, untilActive,
} from './harness.mjs';

test('CreateTable answers with the description it will have', async () => {
  const request = tableRequest({
    key: ['pk', 'sk:N'],
    gsi: { byA: { key: ['a', 'b:B'], project: ['x', 'y'], throughput: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 } } },
    lsi: { byL: { key: ['pk', 'l'], project: 'KEYS_ONLY' } },
    ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
  });
  const { TableDescription: created } = await ddb.createTable(request);
  assert.equal(created.TableName, request.TableName);
  assert.deepEqual(created.KeySchema, request.KeySchema);
  assert.ok(['CREATING', 'ACTIVE'].includes(created.TableStatus));
  assert.ok(created.CreationDateTime instanceof Date);
  assert.match(created.TableArn, new RegExp(`^arn:aws:dynamodb:[a-z0-9-]+:\\d{12}:table/${request.TableName}$`));

  const table = await untilActive(request.TableName);
  assert.equal(table.ItemCount, 0);
  assert.equal(table.TableSizeBytes, 0);
  assert.match(table.TableId, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 5);
  assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 6);
  assert.equal(table.ProvisionedThroughput.NumberOfDecreasesToday, 0);
  assert.deepEqual(
    [...table.AttributeDefinitions].sort((x, y) => (x.AttributeName < y.AttributeName ? -1 : 1)),
    [['a', 'S'], ['b', 'B'], ['l', 'S'], ['pk', 'S'], ['sk', 'N']]
      .map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
  );
  const [gsi] = table.GlobalSecondaryIndexes;
  assert.equal(gsi.IndexName, 'byA');
  assert.equal(gsi.IndexStatus, 'ACTIVE');
  assert.deepEqual([...gsi.Projection.NonKeyAttributes].sort(), ['x', 'y']);
  assert.equal(gsi.ProvisionedThroughput.WriteCapacityUnits, 4);
  assert.equal(gsi.IndexArn, `${table.TableArn}/index/byA`);
  const [lsi] = table.LocalSecondaryIndexes;
  assert.equal(lsi.IndexName, 'byL');
  assert.deepEqual(lsi.Projection, { ProjectionType: 'KEYS_ONLY' });
  assert.equal(lsi.ItemCount, 0);
});

test('an on-demand table says so', async () => {
  const table = await untilActive(await createTable({ key: ['pk'] }));
  assert.equal(table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
  assert.equal(table.ProvisionedThroughput.ReadCapacityUnits, 0);
  assert.equal(table.ProvisionedThroughput.WriteCapacityUnits, 0);
});

test('a table that exists cannot be created again', async () => {
  const request = tableRequest();
  await createTable(request);
  await rejects(ddb.createTable({ ...tableRequest(), TableName: request.TableName }), 'ResourceInUseException',
    `Table already exists: ${request.TableName}`);
});

test('a table that does not exist cannot be described, deleted or updated', async () => {
  const TableName = freshName('absent');
  const message = `Requested resource not found: Table: ${TableName} not found`;
  await rejects(ddb.describeTable({ TableName }), 'ResourceNotFoundException', message);
  await rejects(ddb.deleteTable({ TableName }), 'ResourceNotFoundException', message);
  await rejects(ddb.updateTable({ TableName, BillingMode: 'PAY_PER_REQUEST' }), 'ResourceNotFoundException', message);
});

test('DeleteTable takes the table and its items away', async () => {
  const request = tableRequest();
  await createTable(request);
  await putAll(request.TableName, [{ pk: 'a' }, { pk: 'b' }]);
  const { TableDescription } = await ddb.deleteTable({ TableName: request.TableName });
  assert.equal(TableDescription.TableName, request.TableName);
  await until('the table to be gone', () => ddb.describeTable({ TableName: request.TableName })
    .then(() => false, (error) => error.name === 'ResourceNotFoundException'));
  await rejects(ddb.getItem({ TableName: request.TableName, Key: { pk: { S: 'a' } } }), 'ResourceNotFoundException',
    'Requested resource not found');

  await ddb.createTable(request);
  await untilActive(request.TableName);
  assert.equal((await ddb.scan({ TableName: request.TableName })).Count, 0, 'a new table of the same name is empty');
});

test('ListTables walks all names in order, page by page', async () => {
  const hint = freshName('list');
  const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${hint}-${letter}`);
  for (const TableName of [...names].reverse()) await createTable({ TableName });
  const seen = [];
  let start = `${hint}-`;
  do {
    const page = await ddb.listTables({ Limit: 2, ExclusiveStartTableName: start });
    assert.ok(page.TableNames.length <= 2);
    seen.push(...page.TableNames);
    start = page.LastEvaluatedTableName;
  } while (start !== undefined && seen.filter((name) => names.includes(name)).length < names.length);
  assert.deepEqual(seen.filter((name) => names.includes(name)), names);
  assert.deepEqual(seen, [...seen].sort());
});

test('ListTables refuses a bad limit and a bad name', async () => {
  await invalid(ddb.listTables({ Limit: 0 }),
    "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1");
  await invalid(ddb.listTables({ Limit: 101 }),
    "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100");
  await invalid(ddb.listTables({ ExclusiveStartTableName: 'a' }), /exclusiveStartTableName|3 characters/);
});

test('deletion protection must be lifted before a table can be deleted', async () => {
  const TableName = await createTable({ DeletionProtectionEnabled: true });
  assert.equal((await ddb.describeTable({ TableName })).Table.DeletionProtectionEnabled, true);
  await invalid(ddb.deleteTable({ TableName }),
    /^Resource cannot be deleted as it is currently protected against deletion\. Disable deletion protection first\.$/);
  await ddb.updateTable({ TableName, DeletionProtectionEnabled: false });
  await untilActive(TableName);
  await ddb.deleteTable({ TableName });
});

test('CreateTable refuses what makes no sense, in DynamoDB\'s words', async (t) => {
  const create = (change) => ddb.createTable({ ...tableRequest({ key: ['pk', 'sk'] }), ...change });
  const key = (...list) => list.map(([AttributeName, KeyType]) => ({ AttributeName, KeyType }));
  const attributes = (list) => Object.entries(list).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
  const index = (IndexName, KeySchema, Projection = { ProjectionType: 'ALL' }) => ({ IndexName, KeySchema, Projection });

  await t.test('a short name', () => invalid(create({ TableName: 'ab' }),
    "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3"));
  await t.test('a name with strange characters', () => invalid(create({ TableName: 'bad name' }), /Member must satisfy regular expression pattern: \[a-zA-Z0-9_\.-\]\+/));
  await t.test('an unknown key type', () => invalid(create({ KeySchema: key(['pk', 'INVALID']) }),
    "1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]"));
  await t.test('an unknown attribute type', () => invalid(create({ AttributeDefinitions: attributes({ pk: 'INVALID', sk: 'S' }) }),
    "1 validation error detected: Value 'INVALID' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]"));
  await t.test('three keys', () => invalid(create({ KeySchema: key(['pk', 'HASH'], ['sk', 'RANGE'], ['x', 'RANGE']) }),
    /^1 validation error detected: Value '\[.*\]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2$/));
  await t.test('a key without a definition', () => invalid(create({ AttributeDefinitions: attributes({ pk: 'S' }) }),
    'Invalid KeySchema: Some index key attribute have no definition'));
  await t.test('an order of keys that is not HASH, RANGE', async () => {
    await invalid(create({ KeySchema: key(['pk', 'RANGE'], ['sk', 'HASH']) }), 'Invalid KeySchema: The first KeySchemaElement is not a HASH key type');
    await invalid(create({ KeySchema: key(['pk', 'HASH'], ['sk', 'HASH']) }), 'Invalid KeySchema: The second KeySchemaElement is not a RANGE key type');
  });
  await t.test('one attribute as both keys', () => invalid(create({ KeySchema: key(['pk', 'HASH'], ['pk', 'RANGE']), AttributeDefinitions: attributes({ pk: 'S' }) }),
    'Invalid KeySchema: Some index key attribute have no definition'));
  await t.test('a definition without a key', () => invalid(create({ AttributeDefinitions: attributes({ pk: 'S', sk: 'S', x: 'S' }) }),
    'One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions'));
  await t.test('an LSI on a table without a sort key', () => invalid(
    ddb.createTable(tableRequest({ key: ['pk'], lsi: { local: { key: ['pk', 'x'] } } })),
    'One or more parameter values were invalid: Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex'));
  await t.test('an LSI with another partition key', () => invalid(
    ddb.createTable(tableRequest({ key: ['pk', 'sk'], lsi: { local: { key: ['sk', 'pk'] } } })),
    'One or more parameter values were invalid: Index KeySchema does not have the same leading hash key as table KeySchema for index: local. index hash key: sk, table hash key: pk'));
  await t.test('two indexes of one name', () => invalid(
    create({
      AttributeDefinitions: attributes({ pk: 'S', sk: 'S', x: 'S' }),
      GlobalSecondaryIndexes: [index('same', key(['x', 'HASH'])), index('same', key(['x', 'HASH']))],
    }),
    'One or more parameter values were invalid: Duplicate index name: same'));
  await t.test('INCLUDE without attributes', () => invalid(
    create({ AttributeDefinitions: attributes({ pk: 'S', sk: 'S', x: 'S' }), GlobalSecondaryIndexes: [index('global', key(['x', 'HASH']), { ProjectionType: 'INCLUDE' })] }),
    /ProjectionType is INCLUDE, but NonKeyAttributes is not specified/));
  await t.test('attributes without INCLUDE', () => invalid(
    create({
      AttributeDefinitions: attributes({ pk: 'S', sk: 'S', x: 'S' }),
      GlobalSecondaryIndexes: [index('global', key(['x', 'HASH']), { ProjectionType: 'ALL', NonKeyAttributes: ['a'] })],
    }),
    /ProjectionType is ALL, but NonKeyAttributes is specified/));
  await t.test('six LSIs', () => {
    const lsi = Object.fromEntries([1, 2, 3, 4, 5, 6].map((i) => [`lsi${i}`, { key: ['pk', `x${i}`] }]));
    return invalid(ddb.createTable(tableRequest({ key: ['pk', 'sk'], lsi })), 'One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds per-table limit of 5');
  });
  await t.test('twenty-one GSIs', () => {
    const gsi = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`gsi${i}`, { key: ['pk'] }]));
    return invalid(ddb.createTable(tableRequest({ gsi })),
      'One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of 20');
  });
  await t.test('throughput on an on-demand table', () => invalid(
    create({ ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } }),
    'One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST'));
  await t.test('no throughput on a provisioned table', () => invalid(create({ BillingMode: 'PROVISIONED' }),
    /ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED/));
  await t.test('throughput of zero', () => invalid(
    create({ BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 0, WriteCapacityUnits: 1 } }),
    /greater than or equal to 1/));
});

test('DescribeLimits and DescribeEndpoints answer', async () => {
  const limits = await ddb.describeLimits({});
  assert.ok(limits.AccountMaxReadCapacityUnits >= limits.TableMaxReadCapacityUnits);
  assert.ok(limits.TableMaxWriteCapacityUnits > 0);
  const { Endpoints } = await ddb.describeEndpoints({});
  assert.equal(Endpoints.length, 1);
  assert.equal(typeof Endpoints[0].Address, 'string');
  assert.ok(Endpoints[0].CachePeriodInMinutes > 0);
});

test('DescribeContinuousBackups says there are none', async () => {
  const TableName = await createTable();
  const { ContinuousBackupsDescription: backups } = await ddb.describeContinuousBackups({ TableName });
  assert.ok(['ENABLED', 'DISABLED'].includes(backups.ContinuousBackupsStatus));
  assert.equal(backups.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus ?? 'DISABLED', 'DISABLED');
  await rejects(ddb.describeContinuousBackups({ TableName: freshName('absent') }), 'TableNotFoundException');
});

test('tags are added, replaced, listed and removed', async () => {
  const TableName = await createTable({ Tags: [{ Key: 'born', Value: 'here' }] });
  const ResourceArn = (await ddb.describeTable({ TableName })).Table.TableArn;
  const tags = async () => Object.fromEntries((await ddb.listTagsOfResource({ ResourceArn })).Tags.map(({ Key, Value }) => [Key, Value]));
  await ddb.tagResource({ ResourceArn, Tags: [{ Key: 'env', Value: 'test' }, { Key: 'team', Value: '' }] });
  await until('the tags', async () => Object.keys(await tags()).length >= 2);
  assert.equal((await tags()).env, 'test');
  await ddb.tagResource({ ResourceArn, Tags: [{ Key: 'env', Value: 'production' }] });
  await until('the tag to be replaced', async () => (await tags()).env === 'production');
  await ddb.untagResource({ ResourceArn, TagKeys: ['team', 'absent'] });
  await until('the tag to go', async () => !('team' in await tags()));
  assert.equal((await tags()).env, 'production');
});

thorpeTest('tags given to CreateTable are kept', async () => {
  const TableName = await createTable({ Tags: [{ Key: 'born', Value: 'here' }] });
  const ResourceArn = (await ddb.describeTable({ TableName })).Table.TableArn;
  assert.deepEqual((await ddb.listTagsOfResource({ ResourceArn })).Tags, [{ Key: 'born', Value: 'here' }]);
});

test('tags need a table that is there', async () => {
  await invalid(ddb.tagResource({ ResourceArn: 'not-an-arn', Tags: [{ Key: 'a', Value: 'b' }] }), /arn/i);
  await invalid(ddb.tagResource({ ResourceArn: 'not-an-arn' }), /^1 validation error detected: Value null at 'tags' /);
  await invalid(ddb.untagResource({ ResourceArn: 'not-an-arn' }), /^1 validation error detected: Value null at 'tagKeys' /);
  await invalid(ddb.tagResource({}), /^Invalid TableArn/);
  const ResourceArn = `arn:aws:dynamodb:us-east-1:000000000000:table/${freshName('absent')}`;
  await assert.rejects(ddb.tagResource({ ResourceArn, Tags: [{ Key: 'a', Value: 'b' }] }),
    (error) => ['ResourceNotFoundException', 'AccessDeniedException'].includes(error.name));
});

test('an operation DynamoDB does not have, or Thorpe does not, is an UnknownOperationException', async () => {
  const reply = await call('NoSuchOperation', '{}');
  assert.equal(reply.status, 400);
  assert.equal(errorName(reply), 'UnknownOperationException');
});

thorpeTest('operations outside Thorpe\'s scope are an UnknownOperationException', async () => {
  for (const operation of ['CreateBackup', 'CreateGlobalTable', 'ExportTableToPointInTime', 'DescribeImport', 'PutResourcePolicy']) {
    const reply = await call(operation, '{}');
    assert.equal(reply.status, 400);
    assert.equal(errorName(reply), 'UnknownOperationException', operation);
  }
});

test('DeleteTable tells what goes, not how it was built', async () => {
  const TableName = await createTable({ key: ['pk', 'sk'], gsi: { byA: { key: ['a'] } }, lsi: { byB: { key: ['pk', 'b'] } } });
  const { TableDescription: gone } = await ddb.deleteTable({ TableName });
  assert.equal(gone.TableName, TableName);
  assert.equal(gone.TableStatus, 'DELETING');
  assert.ok(gone.TableArn && gone.TableId);
  for (const member of ['KeySchema', 'AttributeDefinitions', 'CreationDateTime', 'GlobalSecondaryIndexes', 'LocalSecondaryIndexes']) {
    assert.equal(gone[member], undefined, member);
  }
});

test('tags are letters, digits, spaces and a few signs; their length is counted in characters', async () => {
  const TableName = await createTable();
  const ResourceArn = (await ddb.describeTable({ TableName })).Table.TableArn;
  const tag = (Key, Value) => ddb.tagResource({ ResourceArn, Tags: [{ Key, Value }] });
  await tag('\u05d0'.repeat(128), '\u05d0'.repeat(256));
  await tag('a B_.:/=+-@9', '');
  await invalid(tag('\u05d0'.repeat(129), 'v'), /length less than or equal to 128/);
  await invalid(tag('k', '\u05d0'.repeat(257)), /length less than or equal to 256/);
  for (const text of ['hi!', 'd%g', '"hello"']) {
    await invalid(tag(text, 'v'));
    await invalid(tag('k', text));
  }
});
