// UpdateExpression: SET, REMOVE, ADD, DELETE, on paths of any depth; and what is refused.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { createTable, ddb, doc, invalid } from './harness.mjs';

const TableName = await createTable({ key: ['pk'] });
let serial = 0;

/** Puts `before`, updates it, and returns the item there is then. Plain objects in and out. */
async function updated(before, UpdateExpression, values, names) {
  serial += 1;
  const pk = `u${serial}`;
  if (before) await doc.put({ TableName, Item: { pk, ...before } });
  const { Attributes } = await ddb.updateItem({
    TableName, Key: { pk: { S: pk } }, UpdateExpression, ReturnValues: 'ALL_NEW',
    ...(values ? { ExpressionAttributeValues: marshall(values) } : {}),
    ...(names ? { ExpressionAttributeNames: names } : {}),
  });
  const { Item } = await ddb.getItem({ TableName, Key: { pk: { S: pk } }, ConsistentRead: true });
  assert.deepEqual(Attributes, Item, 'ALL_NEW is what is stored');
  const { pk: _, ...rest } = unmarshall(Item);
  return rest;
}

test('SET assigns values, names and paths', async () => {
  assert.deepEqual(await updated({}, 'SET a = :a, #b = :b', { ':a': 1, ':b': 'x' }, { '#b': 'b' }), { a: 1, b: 'x' });
  assert.deepEqual(await updated({ m: { x: 1 } }, 'SET m.y = :v', { ':v': 2 }), { m: { x: 1, y: 2 } });
  assert.deepEqual(await updated({ m: { l: [1, { z: 2 }] } }, 'SET m.l[1].z = :v', { ':v': 9 }), { m: { l: [1, { z: 9 }] } });
  assert.deepEqual(await updated({ a: 1, b: 2 }, 'SET a = b, b = a'), { a: 2, b: 1 }, 'right-hand sides see the item as it was');
  assert.deepEqual(await updated({ a: 1 }, 'set a = :v', { ':v': 2 }), { a: 2 }, 'keywords in any case');
});

test('SET calculates', async () => {
  assert.deepEqual(await updated({ n: 5 }, 'SET n = n + :d', { ':d': 3 }), { n: 8 });
  assert.deepEqual(await updated({ n: 5 }, 'SET n = n - :d', { ':d': 7 }), { n: -2 });
  assert.deepEqual(await updated({ a: 5, b: 2 }, 'SET c = a - b'), { a: 5, b: 2, c: 3 });
  assert.deepEqual(await updated({}, 'SET n = if_not_exists(n, :zero) + :one', { ':zero': 0, ':one': 1 }), { n: 1 });
});

test('if_not_exists keeps what is there', async () => {
  assert.deepEqual(await updated({ a: 1 }, 'SET a = if_not_exists(a, :v), b = if_not_exists(b, :v)', { ':v': 2 }), { a: 1, b: 2 });
  assert.deepEqual(await updated({ a: 1 }, 'SET b = if_not_exists(a, :v)', { ':v': 2 }), { a: 1, b: 1 });
});

test('list_append joins on either side', async () => {
  assert.deepEqual(await updated({ l: [1] }, 'SET l = list_append(l, :v)', { ':v': [2, 3] }), { l: [1, 2, 3] });
  assert.deepEqual(await updated({ l: [1] }, 'SET l = list_append(:v, l)', { ':v': [2, 3] }), { l: [2, 3, 1] });
  assert.deepEqual(await updated({}, 'SET l = list_append(if_not_exists(l, :empty), :v)', { ':empty': [], ':v': [1] }), { l: [1] });
});

test('list elements are replaced, appended and removed by index', async () => {
  assert.deepEqual(await updated({ l: [1, 2, 3] }, 'SET l[1] = :v', { ':v': 9 }), { l: [1, 9, 3] });
  assert.deepEqual(await updated({ l: [1] }, 'SET l[5] = :v', { ':v': 9 }), { l: [1, 9] }, 'beyond the end is the end');
  assert.deepEqual(await updated({ l: [0, 1, 2, 3] }, 'REMOVE l[1], l[2]'), { l: [0, 3] }, 'indexes are those before the update');
  assert.deepEqual(await updated({ l: [0] }, 'REMOVE l[7]'), { l: [0] });
  assert.deepEqual(await updated({ l: [1] }, 'SET l[4] = :a, l[3] = :b', { ':a': 'a', ':b': 'b' }), { l: [1, 'b', 'a'] });
});

test('REMOVE takes attributes away, at any depth', async () => {
  assert.deepEqual(await updated({ a: 1, b: 2 }, 'REMOVE a, nothing'), { b: 2 });
  assert.deepEqual(await updated({ m: { x: 1, y: { z: 2 } } }, 'REMOVE m.y.z'), { m: { x: 1, y: {} } });
});

test('ADD counts, and grows sets', async () => {
  assert.deepEqual(await updated({ n: 1 }, 'ADD n :v', { ':v': 4 }), { n: 5 });
  assert.deepEqual(await updated({}, 'ADD n :v', { ':v': 4 }), { n: 4 });
  assert.deepEqual(await updated({ m: { n: 1 } }, 'ADD m.n :v', { ':v': -1 }), { m: { n: 0 } });
  assert.deepEqual(await updated({ s: new Set(['a']) }, 'ADD s :v', { ':v': new Set(['a', 'b']) }), { s: new Set(['a', 'b']) });
  assert.deepEqual(await updated({}, 'ADD s :v', { ':v': new Set([1, 2]) }), { s: new Set([1, 2]) });
});

test('DELETE shrinks sets, and an emptied set is gone', async () => {
  assert.deepEqual(await updated({ s: new Set(['a', 'b', 'c']) }, 'DELETE s :v', { ':v': new Set(['b', 'x']) }), { s: new Set(['a', 'c']) });
  assert.deepEqual(await updated({ s: new Set([1]) }, 'DELETE s :v', { ':v': new Set([1]) }), {});
  assert.deepEqual(await updated({}, 'DELETE s :v', { ':v': new Set([1]) }), {});
});

test('all four clauses in one expression, in any order', async () => {
  assert.deepEqual(
    await updated({ a: 1, r: 1, n: 1, s: new Set(['x', 'y']) }, 'DELETE s :s ADD n :n REMOVE r SET a = :a', { ':s': new Set(['y']), ':n': 1, ':a': 2 }),
    { a: 2, n: 2, s: new Set(['x']) },
  );
});

test('what cannot be done to the item as it is', async (t) => {
  const refuse = (name, before, expression, values, message) => t.test(name, () => invalid(updated(before, expression, values), message));
  const wrongType = 'An operand in the update expression has an incorrect data type';
  const noPath = 'The document path provided in the update expression is invalid for update';
  const noAttribute = 'The provided expression refers to an attribute that does not exist in the item';
  await refuse('add to a string', { a: 'x' }, 'SET a = a + :v', { ':v': 1 }, wrongType);
  await refuse('ADD to a string', { a: 'x' }, 'ADD a :v', { ':v': 1 }, wrongType);
  await refuse('append to a string', { a: 'x' }, 'SET a = list_append(a, :v)', { ':v': [1] }, wrongType);
  await refuse('DELETE from a list', { a: [1] }, 'DELETE a :v', { ':v': new Set([1]) }, wrongType);
  await refuse('ADD a set of another type', { a: new Set([1]) }, 'ADD a :v', { ':v': new Set(['a']) }, wrongType);
  await refuse('read an attribute that is not there', {}, 'SET a = b', undefined, noAttribute);
  await refuse('add to an attribute that is not there', {}, 'SET a = a + :v', { ':v': 1 }, noAttribute);
  await refuse('set below a missing map', {}, 'SET m.x = :v', { ':v': 1 }, noPath);
  await refuse('set below a string', { m: 'x' }, 'SET m.x = :v', { ':v': 1 }, noPath);
  await refuse('index a map', { m: {} }, 'SET m[0] = :v', { ':v': 1 }, noPath);
  await refuse('index a missing list', {}, 'SET l[0] = :v', { ':v': 1 }, noPath);
  await refuse('remove below a missing map', {}, 'REMOVE m.x', undefined, noPath);
});

test('what makes no sense as an update expression', async (t) => {
  const refuse = (name, expression, values, message, names) => t.test(name, () => invalid(updated({}, expression, values, names), message));
  await refuse('nothing', '', undefined, 'Invalid UpdateExpression: The expression can not be empty;');
  await refuse('no clause', 'a = :v', { ':v': 1 }, 'Invalid UpdateExpression: Syntax error; token: "a", near: "a ="');
  await refuse('two words', 'INVALID SYNTAX', undefined, 'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"');
  await refuse('the end too early', 'SET a =', undefined, 'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "="');
  await refuse('a clause twice', 'SET a = :v SET b = :v', { ':v': 1 }, 'Invalid UpdateExpression: The "SET" section can only be used once in an update expression;');
  await refuse('a reserved word', 'SET status = :v', { ':v': 1 }, 'Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: status');
  await refuse('an undefined value', 'SET a = :v', undefined,
    'Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :v');
  await refuse('an undefined name', 'SET #a = :v', { ':v': 1 },
    'Invalid UpdateExpression: An expression attribute name used in the document path is not defined; attribute name: #a');
  await refuse('an unused value', 'SET a = :v', { ':v': 1, ':w': 2 }, 'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}');
  await refuse('an unused name', 'SET a = :v', { ':v': 1 }, 'Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}', { '#x': 'x' });
  await refuse('a path twice', 'SET a = :v, a = :v', { ':v': 1 },
    'Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]');
  await refuse('a path and its parent', 'SET a.b = :v REMOVE a', { ':v': 1 },
    'Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]');
  await refuse('a map and a list at one path', 'SET a.b = :v, a[1] = :v', { ':v': 1 },
    'Invalid UpdateExpression: Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a, [1]]');
  await refuse('an unknown function', 'SET a = foo(a, :v)', { ':v': 1 }, 'Invalid UpdateExpression: Invalid function name; function: foo');
  await refuse('a condition function', 'SET a = attribute_exists(a)', undefined,
    'Invalid UpdateExpression: The function is not allowed in an update expression; function: attribute_exists');
  await refuse('too few operands', 'SET a = if_not_exists(a)', undefined,
    'Invalid UpdateExpression: Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1');
  await refuse('if_not_exists of a value', 'SET a = if_not_exists(:v, :w)', { ':v': 1, ':w': 2 },
    'Invalid UpdateExpression: Operator or function requires a document path; operator or function: if_not_exists');
  await refuse('plus a string', 'SET a = a + :v', { ':v': 'x' },
    'Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: +, operand type: S');
  await refuse('append a number', 'SET a = list_append(a, :v)', { ':v': 1 },
    'Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: list_append, operand type: N');
  await refuse('ADD a string', 'ADD a :v', { ':v': 'x' },
    'Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND');
  await refuse('DELETE a number', 'DELETE a :v', { ':v': 1 },
    'Invalid UpdateExpression: Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND');
  await refuse('the key', 'SET pk = :v', { ':v': 'x' },
    'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key');
  await refuse('a name without #', 'SET a = :v', { ':v': 1 }, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "x"', { x: 'x' });
  await refuse('an expression over 4 KB', `SET ${'a'.repeat(4096)} = :v`, { ':v': 1 }, /Invalid UpdateExpression: Expression size has exceeded the maximum allowed size/);
});

test('expressions and the old parameters do not mix', async () => {
  await invalid(ddb.updateItem({
    TableName, Key: { pk: { S: 'x' } }, UpdateExpression: 'REMOVE a', AttributeUpdates: { a: { Action: 'DELETE' } },
  }), 'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}');
});

test('values without an expression are refused', async () => {
  const Key = { pk: { S: 'x' } };
  await invalid(ddb.updateItem({ TableName, Key, ExpressionAttributeValues: { ':v': { N: '1' } } }),
    'ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null');
  await invalid(ddb.updateItem({ TableName, Key, ExpressionAttributeNames: { '#v': 'v' } }),
    'ExpressionAttributeNames can only be specified when using expressions');
  await invalid(ddb.updateItem({ TableName, Key, UpdateExpression: 'REMOVE a', ExpressionAttributeValues: {} }), 'ExpressionAttributeValues must not be empty');
  await invalid(ddb.updateItem({ TableName, Key, UpdateExpression: 'REMOVE a', ExpressionAttributeNames: {} }), 'ExpressionAttributeNames must not be empty');
});

test('an update that only takes away makes no item where there is none', async (t) => {
  const takes = [
    ['REMOVE', { UpdateExpression: 'REMOVE a' }],
    ['REMOVE below what is not there', { UpdateExpression: 'REMOVE m.x, l[0]' }],
    ['DELETE', { UpdateExpression: 'DELETE s :v', ExpressionAttributeValues: { ':v': { SS: ['x'] } } }],
    ['an AttributeUpdate', { AttributeUpdates: { a: { Action: 'DELETE' } } }],
    ['an AttributeUpdate of a set', { AttributeUpdates: { s: { Action: 'DELETE', Value: { SS: ['x'] } } } }],
  ];
  for (const [name, parameters] of takes) {
    await t.test(name, async () => {
      const Key = { pk: { S: `nobody ${name}` } };
      const { Attributes } = await ddb.updateItem({ TableName, Key, ReturnValues: 'ALL_NEW', ...parameters });
      assert.equal(Attributes, undefined);
      assert.equal((await ddb.getItem({ TableName, Key, ConsistentRead: true })).Item, undefined);
    });
  }
});

test('an update that gives something, or says nothing, makes the item', async () => {
  assert.deepEqual(await updated(undefined, 'REMOVE a SET b = :v', { ':v': 1 }), { b: 1 });
  const Key = { pk: { S: 'made by nothing' } };
  await ddb.updateItem({ TableName, Key });
  assert.deepEqual((await ddb.getItem({ TableName, Key, ConsistentRead: true })).Item, Key);
});

test('a key has no parts to be read or written', async (t) => {
  const Indexed = await createTable({ key: ['pk'], gsi: { byTag: { key: ['tag'] } } });
  const scalar = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  for (const [UpdateExpression, which, value] of [
    ['SET a = pk.x', 'Key: pk'],
    ['SET a = list_append(b, tag[1])', 'IndexKey: tag'],
    ['SET a = if_not_exists(tag.x, b) - c', 'IndexKey: tag'],
    ['ADD tag.n :v', 'IndexKey: tag', { N: '1' }],
    ['REMOVE tag[0]', 'IndexKey: tag'],
  ]) {
    await t.test(UpdateExpression, () => invalid(ddb.updateItem({
      TableName: Indexed, Key: { pk: { S: 'a' } }, UpdateExpression, ...(value ? { ExpressionAttributeValues: { ':v': value } } : {}),
    }), scalar + which));
  }
});

test('what is wrong inside a section comes before that it comes a second time', async () => {
  const update = (UpdateExpression) => ddb.updateItem({ TableName, Key: { pk: { S: 'a' } }, UpdateExpression, ExpressionAttributeValues: { ':v': { N: '1' } } });
  await invalid(update('SET a = :v SET abOrt = :v'), 'Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: abOrt');
  await invalid(update('SET a = :v SET b = :v'), 'Invalid UpdateExpression: The "SET" section can only be used once in an update expression;');
});
