// ConditionExpression and FilterExpression: operators, functions, precedence, and what is refused.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createTable, ddb, doc, invalid } from './harness.mjs';

const TableName = await createTable({ key: ['pk'] });
const Item = {
  pk: 'item', n: 5, s: 'hello', b: new Uint8Array([1, 2, 3]), yes: true, nothing: null,
  parts: [1, 'two', { three: 3 }], tree: { a: { b: 'deep' } }, ss: new Set(['x', 'y']), ns: new Set([1, 2]), blank: '',
  'dotted.name': 'dot',
};
await doc.put({ TableName, Item });

const arrange = (values, names) => ({
  ...(values ? { ExpressionAttributeValues: marshall(values) } : {}),
  ...(names ? { ExpressionAttributeNames: names } : {}),
});

/** Whether the item satisfies it, asked in both places an expression of this kind can stand. */
async function holds(expression, values, names) {
  const filtered = await ddb.scan({ TableName, FilterExpression: expression, ...arrange(values, names) });
  const conditioned = await ddb.updateItem({ TableName, Key: { pk: { S: 'item' } }, ConditionExpression: expression, ...arrange(values, names) })
    .then(() => true, (error) => {
      if (error.name !== 'ConditionalCheckFailedException') throw error;
      return false;
    });
  assert.equal(filtered.Count === 1, conditioned, 'a filter and a condition must agree');
  return conditioned;
}

function table(name, cases) {
  test(name, async (t) => {
    for (const [expression, expected, values, names] of cases) {
      await t.test(expression, async () => assert.equal(await holds(expression, values, names), expected));
    }
  });
}

table('comparisons', [
  ['n = :v', true, { ':v': 5 }],
  ['n = :v', false, { ':v': '5' }],
  ['n <> :v', true, { ':v': '5' }],
  ['n <> :v', false, { ':v': 5 }],
  ['n < :v', true, { ':v': 5.1 }],
  ['n <= :v', true, { ':v': 5 }],
  ['n > :v', false, { ':v': 5 }],
  ['n >= :v', true, { ':v': 5 }],
  ['s < :v', true, { ':v': 'hellp' }],
  ['s > :v', false, { ':v': 1 }],
  ['b > :v', true, { ':v': new Uint8Array([1, 2]) }],
  ['gone = :v', false, { ':v': 5 }],
  ['gone <> :v', true, { ':v': 5 }],
  ['gone < :v', false, { ':v': 5 }],
  ['parts = :v', true, { ':v': [1, 'two', { three: 3 }] }],
  ['tree = :v', true, { ':v': { a: { b: 'deep' } } }],
  ['ss = :v', true, { ':v': new Set(['y', 'x']) }],
  ['yes = :v', true, { ':v': true }],
  ['nothing = :v', true, { ':v': null }],
  [':v = n', true, { ':v': 5 }],
]);

table('BETWEEN and IN', [
  ['n BETWEEN :a AND :b', true, { ':a': 5, ':b': 6 }],
  ['n BETWEEN :a AND :b', false, { ':a': 6, ':b': 7 }],
  ['s BETWEEN :a AND :b', true, { ':a': 'a', ':b': 'z' }],
  ['n between :a and :b', true, { ':a': 0, ':b': 9 }],
  ['n IN (:a, :b)', true, { ':a': 4, ':b': 5 }],
  ['n IN (:a)', false, { ':a': '5' }],
  ['gone IN (:a)', false, { ':a': 1 }],
]);

table('functions', [
  ['attribute_exists(n)', true],
  ['attribute_exists(gone)', false],
  ['attribute_not_exists(gone)', true],
  ['attribute_exists(tree.a.b)', true],
  ['attribute_not_exists(tree.a.c)', true],
  ['attribute_exists(parts[2].three)', true],
  ['attribute_exists(parts[3])', false],
  ['attribute_type(n, :t)', true, { ':t': 'N' }],
  ['attribute_type(parts, :t)', true, { ':t': 'L' }],
  ['attribute_type(ss, :t)', true, { ':t': 'SS' }],
  ['attribute_type(nothing, :t)', true, { ':t': 'NULL' }],
  ['attribute_type(n, :t)', false, { ':t': 'S' }],
  ['begins_with(s, :v)', true, { ':v': 'hel' }],
  ['begins_with(s, :v)', false, { ':v': 'lo' }],
  ['begins_with(b, :v)', true, { ':v': new Uint8Array([1]) }],
  ['begins_with(n, :v)', false, { ':v': '5' }],
  ['contains(s, :v)', true, { ':v': 'ell' }],
  ['contains(s, :v)', false, { ':v': 'xyz' }],
  ['contains(ss, :v)', true, { ':v': 'x' }],
  ['contains(ns, :v)', true, { ':v': 2 }],
  ['contains(parts, :v)', true, { ':v': 'two' }],
  ['contains(parts, :v)', true, { ':v': { three: 3 } }],
  ['contains(parts, :v)', false, { ':v': 2 }],
  ['contains(gone, :v)', false, { ':v': 2 }],
  ['size(s) = :v', true, { ':v': 5 }],
  ['size(b) = :v', true, { ':v': 3 }],
  ['size(parts) = :v', true, { ':v': 3 }],
  ['size(tree) = :v', true, { ':v': 1 }],
  ['size(ss) > :v', true, { ':v': 1 }],
  ['size(blank) = :v', true, { ':v': 0 }],
  ['size(n) = :v', false, { ':v': 1 }],
  ['size(gone) = :v', false, { ':v': 0 }],
]);

table('NOT, AND, OR and parentheses', [
  ['n = :five OR n = :six AND n = :six', true, { ':five': 5, ':six': 6 }],
  ['(n = :five OR n = :six) AND n = :six', false, { ':five': 5, ':six': 6 }],
  ['NOT n = :five', false, { ':five': 5 }],
  ['NOT n = :six AND s = :h', true, { ':six': 6, ':h': 'hello' }],
  ['NOT (n = :six AND s = :h)', true, { ':six': 6, ':h': 'hello' }],
  ['NOT NOT n = :five', true, { ':five': 5 }],
  ['(n = :five) AND (s = :h)', true, { ':five': 5, ':h': 'hello' }],
  ['not n = :six or n = :six', true, { ':six': 6 }],
]);

table('paths', [
  ['tree.a.b = :v', true, { ':v': 'deep' }],
  ['parts[0] = :v', true, { ':v': 1 }],
  ['parts[2].three = :v', true, { ':v': 3 }],
  ['#m.#a.b = :v', true, { ':v': 'deep' }, { '#m': 'tree', '#a': 'a' }],
  ['#d = :v', true, { ':v': 'dot' }, { '#d': 'dotted.name' }],
  ['tree.a = parts[2]', false],
  ['n.x = :v', false, { ':v': 1 }],
]);

test('what makes no sense as a condition', async (t) => {
  const refuse = (expression, values, message, names) => t.test(expression || 'nothing', () => invalid(ddb.putItem({
    TableName, Item: { pk: { S: 'x' } }, ConditionExpression: expression, ...arrange(values, names),
  }), message instanceof RegExp ? message : `Invalid ConditionExpression: ${message}`));
  await refuse('', undefined, 'The expression can not be empty;');
  await refuse('n =', undefined, 'Syntax error; token: "<EOF>", near: "="');
  await refuse('n == :v', { ':v': 1 }, 'Syntax error; token: "=", near: "== :v"');
  await refuse('n = 5', undefined, 'Syntax error; token: "5", near: "= 5"');
  await refuse('status = :v', { ':v': 1 }, 'Attribute name is a reserved keyword; reserved keyword: status');
  await refuse('#n = :v', { ':v': 1 }, 'An expression attribute name used in the document path is not defined; attribute name: #n');
  await refuse('n = :v', undefined, 'An expression attribute value used in expression is not defined; attribute value: :v');
  await refuse('foo(n)', undefined, 'Invalid function name; function: foo');
  await refuse('attribute_exists(n, s)', undefined,
    'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2');
  await refuse('attribute_exists(:v)', { ':v': 1 }, 'Operator or function requires a document path; operator or function: attribute_exists');
  await refuse('attribute_type(n, :v)', { ':v': 'X' }, /^Invalid ConditionExpression: Invalid attribute type name found; type: X, valid types: \{[A-Z,]+\}$/);
  await refuse('begins_with(s, :v)', { ':v': 1 }, 'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N');
  await refuse('n < :v', { ':v': [1] }, 'Incorrect operand type for operator or function; operator or function: <, operand type: L');
  await refuse('n BETWEEN :a AND :b', { ':a': 2, ':b': 1 },
    'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}');
  await refuse('n BETWEEN :a AND :b', { ':a': 2, ':b': 'x' },
    'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {S:x}');
  await refuse('((n = :v))', { ':v': 1 }, 'The expression has redundant parentheses;');
  await refuse('n = n', undefined, 'The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [n]');
  await refuse('size(n)', undefined, 'The function is not allowed to be used this way in an expression; function: size');
  await refuse('attribute_exists(n) = :v', { ':v': true }, 'The function is not allowed to be used this way in an expression; function: attribute_exists');
});

test('an expression may have 300 operators and no more', async () => {
  const chain = (terms) => Array.from({ length: terms }, () => 'attribute_exists(n)').join(' OR ');
  await ddb.scan({ TableName, FilterExpression: chain(150) });
  await invalid(ddb.scan({ TableName, FilterExpression: Array.from({ length: 320 }, () => 'n=:v').join(' OR '), ExpressionAttributeValues: { ':v': { N: '5' } } }),
    /Invalid FilterExpression: The expression contains too many operators|has exceeded the maximum/);
});

test('IN takes 100 operands and no more', async () => {
  const list = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`:v${i}`, i]));
  const expression = (count) => `n IN (${Object.keys(list(count)).join(', ')})`;
  assert.equal(await holds(expression(100), list(100)), true);
  await invalid(holds(expression(101), list(101)), /number of operands: (101|102)|too many/i);
});

test('names and values must look like names and values', async () => {
  const put = (extra) => ddb.putItem({ TableName, Item: { pk: { S: 'x' } }, ConditionExpression: 'attribute_exists(pk)', ...extra });
  await invalid(put({ ExpressionAttributeNames: { a: 'b' } }), 'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"');
  await invalid(put({ ExpressionAttributeValues: { a: { S: 'b' } } }), 'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"');
  await invalid(put({ ExpressionAttributeValues: { ':b': { N: 'abc' } } }),
    'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: abc for key :b');
  await invalid(put({ ExpressionAttributeNames: { '#a': 'b' } }), 'Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}');
  await invalid(put({ ExpressionAttributeValues: { ':b': { S: 'b' } } }), 'Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}');
  await invalid(ddb.putItem({ TableName, Item: { pk: { S: 'x' } }, ExpressionAttributeValues: { ':a': { S: 'b' } } }),
    'ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null');
});
