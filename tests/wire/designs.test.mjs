// Designs from the command line: thorpe check, and serve --design making their tables.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DescribeTableCommand, DescribeTimeToLiveCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { EXAMPLES, clientsFor, designFile, freshDirectory, launch, runToEnd, startServer, thorpeTest, until } from './harness.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const yamlIn = (dir) => readdirSync(join(root, dir)).filter((name) => name.endsWith('.yaml')).sort().map((name) => join(root, dir, name));
const designs = yamlIn('designs');
const tables = ['SocialMediaApp', 'WavyBlog', 'fus-main', 'perfectit-main', 'thorpe-dev-blog'];

thorpeTest('the shipped designs check clean', async () => {
  const { code, stdout } = await runToEnd(['check', ...designs, ...EXAMPLES.map(designFile)]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, new RegExp(`${5 + EXAMPLES.length} designs, 0 errors, 0 warnings`));
});

thorpeTest('a design with errors ends with 1, and each finding has line, reason and repair', async () => {
  for (const file of yamlIn('tests/designs/as-written')) {
    const { code, stdout } = await runToEnd(['check', file, '--json']);
    assert.equal(code, 1, file);
    const findings = JSON.parse(stdout);
    const errors = findings.filter(({ severity }) => severity === 'error');
    assert.ok(errors.length > 0);
    for (const { line, rule, message, why, repair } of errors) {
      assert.ok(line > 0, message);
      assert.ok(rule && message && why && repair, message);
    }
  }
});

thorpeTest('a mistake is shown where it stands, with what was probably meant', async () => {
  const file = join(freshDirectory(), 'typo.yaml');
  writeFileSync(file, 'design: typo\ntitle: Typo\ntable: Typo\nkey: [PK, SK]\nentitties: {}\n');
  for (const args of [['check', file], ['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', file]]) {
    const { code, stdout, stderr } = await runToEnd(args);
    assert.equal(code, 1);
    assert.match(stdout + stderr, /typo\.yaml:5:1: error: .*entitties/);
    assert.match(stdout + stderr, /entities/);
  }
});

thorpeTest('a file that is not there is named', async () => {
  const { code, stdout, stderr } = await runToEnd(['check', 'no-such-file.yaml']);
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /no-such-file\.yaml/);
});

thorpeTest('check --watch looks again whenever the file changes, is replaced, goes or comes back', async () => {
  const file = join(freshDirectory(), 'watched.yaml');
  const design = (word) => `design: watched\ntable: Watched\nkey: [PK]\n${word}:\n  A:\n    path: /as/<id>\n    attributes: {id: string}\n    keys: {PK: A#<id>}\n    allow: {read, create: anyone}\n`;
  writeFileSync(file, design('entitties'));
  const run = launch(['check', file, '--watch']);
  const says = (text, times) => until(`${text}, ${times} times`, () => run.stdout.split(text).length > times);
  await says('entitties', 1);
  writeFileSync(file, design('entities'));
  await says('1 design, 0 errors', 1);
  writeFileSync(`${file}.new`, design('entitis')); // as editors do
  renameSync(`${file}.new`, file);
  await says('entitis', 1);
  unlinkSync(file);
  await says('cannot', 1);
  writeFileSync(file, design('entities'));
  await says('1 design, 0 errors', 2);
  run.child.kill('SIGINT');
  assert.equal(await run.done, 'SIGINT');
});

thorpeTest('check --watch says what is wrong within a tenth of a second of the save', async () => {
  const file = join(freshDirectory(), 'quick.yaml');
  const design = (n) => `design: quick\ntable: Quick\nkey: [PK]\nentities:\n  A:\n    path: /as/<id>\n    attributes: {id: string, n${n}: strng}\n    keys: {PK: A#<id>}\n`;
  writeFileSync(file, design(0));
  const run = launch(['check', file, '--watch']);
  await until('the first look', () => run.stdout.includes('n0: strng'));
  const took = [];
  for (let n = 1; n <= 9; n++) {
    const said = new Promise((resolve) => {
      const look = () => {
        if (!run.stdout.includes(`n${n}: strng`)) return;
        run.child.stdout.off('data', look);
        resolve(performance.now());
      };
      run.child.stdout.on('data', look);
    });
    const saved = performance.now();
    writeFileSync(file, design(n));
    took.push((await said) - saved);
  }
  run.child.kill('SIGKILL');
  took.sort((a, b) => a - b);
  assert.ok(took[4] < 100, `half of the times: ${took.map(Math.round).join(' ')} ms`); // the others: a busy machine
});

thorpeTest('serve --design makes the tables, and finds them again', async () => {
  const data = freshDirectory();
  const args = designs.flatMap((file) => ['--design', file]);
  const first = await startServer({ data, args });
  const { ddb } = clientsFor(first.endpoint);
  const { TableNames } = await ddb.send(new ListTablesCommand({}));
  assert.deepEqual(TableNames.filter((name) => !name.endsWith('.thorpe')), tables); // those are the processors' own
  const { Table } = await ddb.send(new DescribeTableCommand({ TableName: 'fus-main' }));
  assert.deepEqual(Table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName).sort(), ['byEntity', 'byGroup', 'bySite', 'byStars', 'byTag']);
  assert.equal(Table.AttributeDefinitions.find(({ AttributeName }) => AttributeName === 'starRating').AttributeType, 'N');
  const ttl = await ddb.send(new DescribeTimeToLiveCommand({ TableName: 'SocialMediaApp' }));
  assert.deepEqual(ttl.TimeToLiveDescription, { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires_at' });
  assert.equal(first.log().match(/table \S+ made/g).length, 5);
  await first.stop();
  const second = await startServer({ data, args });
  assert.equal(second.log().match(/table \S+ is there/g).length, 5);
  await second.stop();
});
