// `thorpe deploy`: against a server that stands in for DynamoDB, stopped anywhere, refused, and by two at once; and what serve
// makes of tables that are elsewhere.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, clientsFor, freshDirectory, killAll, launch, runToEnd, startServer, until, within } from './harness.mjs';

const dir = freshDirectory();
const social = join(ROOT, 'designs', 'social.yaml');
const servers = [];
after(async () => {
  for (const server of servers) await server.stop();
  killAll(); // of a test that failed
});

async function fresh(args = [], options = {}) {
  const server = await startServer({ data: null, args, ...options });
  servers.push(server);
  const { ddb, doc } = clientsFor(server.endpoint);
  after(() => ddb.destroy());
  return { ...server, ddb, doc, tables: async () => (await ddb.listTables({})).TableNames };
}

const env = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const deploy = (where, args = ['--yes'], { design = social, ...more } = {}) =>
  runToEnd(['deploy', design, '--backend', where, ...args], { env: { ...env, ...more } });

async function deployed(where, args = ['--yes'], options) {
  const run = await deploy(where, args, options);
  assert.equal(run.code, 0, run.stderr + run.stdout);
  return run;
}

/** A small design of the same table, with these lines about it. */
let files = 0;
function small(head) {
  const file = join(dir, `small-${files += 1}.yaml`);
  writeFileSync(file, `design: social\ntitle: Social\ntable: SocialMediaApp\nkey: [PK, SK]\n${head}
entities:
  Note:
    path: /notes/<id>
    attributes: {id: 'string, id'}
    keys: {PK: NOTE#<id>, SK: NOTE, GSI1PK: NOTE, GSI1SK: <id>}
`);
  return file;
}
const GSI1 = 'indexes: {GSI1: {key: [GSI1PK, GSI1SK]}}\n';

const described = async ({ ddb }, TableName = 'SocialMediaApp') => (await ddb.describeTable({ TableName })).Table;

test('the plan comes first and makes nothing; then it is made; then there is nothing to do', async () => {
  const server = await fresh();
  for (const args of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await deploy(server.endpoint, args);
    assert.equal(code, 3, stderr);
    assert.match(stdout, /table SocialMediaApp: there is none yet\n {2}\+ the table: key PK, SK; on demand\n/);
    assert.match(stdout, /index GSI1: GSI1PK, GSI1SK; all attributes/);
    assert.match(stdout, /note: this endpoint has no point-in-time recovery/);
    assert.match(stdout, /Estimated cost in US dollars a month, at the traffic that the design declares\n {2}writes +\d+\.\d\d/);
    assert.deepEqual(await server.tables(), []);
  }
  const { stdout } = await deployed(server.endpoint, ['--yes', '--tag', 'team=social media']);
  assert.match(stdout, /SocialMediaApp: the table/);
  assert.match(stdout, /SocialMediaApp\.thorpe: TTL: by expires\n/);
  assert.deepEqual(await server.tables(), ['SocialMediaApp', 'SocialMediaApp.thorpe']);
  const table = await described(server);
  assert.deepEqual(table.GlobalSecondaryIndexes.map(({ IndexName, IndexStatus }) => `${IndexName} ${IndexStatus}`).sort(),
    ['GSI1 ACTIVE', 'GSI2 ACTIVE', 'GSI3 ACTIVE']);
  assert.equal(table.StreamSpecification.StreamViewType, 'NEW_AND_OLD_IMAGES');
  assert.equal(table.DeletionProtectionEnabled, true);
  const { Tags } = await server.ddb.listTagsOfResource({ ResourceArn: table.TableArn });
  assert.deepEqual(Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value])), { 'thorpe:design': 'social', team: 'social media' });
  for (const args of [['--yes'], ['--dry-run'], []]) {
    const again = await deployed(server.endpoint, [...args, '--tag', 'team=social media']);
    assert.match(again.stdout, /\nnothing to do\n/);
  }
});

test('a server uses what was deployed', async () => {
  const server = await fresh();
  await deployed(server.endpoint);
  const before = await described(server);
  const front = await startServer({ data: null, args: ['--design', social, '--backend', server.endpoint], env });
  assert.match(front.log(), /table SocialMediaApp is there/);
  await front.stop();
  assert.equal((await described(server)).TableId, before.TableId);
  assert.match((await deployed(server.endpoint)).stdout, /nothing to do/);
});

test('an index that is missing is built from the items that are there, and can be queried at the end', async () => {
  const server = await fresh();
  await deployed(server.endpoint, ['--yes', '--no-deletion-protection'], { design: small(GSI1) });
  for (let i = 0; i < 40; i += 1) {
    await server.doc.batchWrite({ RequestItems: { SocialMediaApp: Array.from({ length: 25 }, (_, n) => ({
      PutRequest: { Item: { PK: `X#${i}`, SK: `${n}`, GSI3PK: 'ALL', GSI3SK: `${i}#${n}`, blob: 'x'.repeat(500) } } })) } });
  }
  const plan = await deploy(server.endpoint, ['--dry-run']);
  assert.equal(plan.code, 3);
  for (const line of ['+ index GSI2', '+ index GSI3', '+ stream: new and old images', '+ TTL: by expires_at', '+ deletion protection']) {
    assert.ok(plan.stdout.includes(line), `${line} in ${plan.stdout}`);
  }
  await deployed(server.endpoint);
  const { Count } = await server.doc.query({ TableName: 'SocialMediaApp', IndexName: 'GSI3', Select: 'COUNT',
    KeyConditionExpression: 'GSI3PK = :p', ExpressionAttributeValues: { ':p': 'ALL' } });
  assert.equal(Count, 1000);
  assert.match((await deployed(server.endpoint)).stdout, /nothing to do/);
});

/** Stands between the command and the server, and may stop the command before or after a call is passed on. */
async function between(endpoint) {
  const proxy = { calls: [], onCall: null };
  const http = createServer((req, res) => {
    const parts = [];
    req.on('data', (part) => parts.push(part));
    req.on('end', async () => {
      const operation = req.headers['x-amz-target'].split('.')[1];
      proxy.calls.push(operation);
      if (await proxy.onCall?.(operation, 'before') === 'stop') return res.destroy();
      const { hostname, port } = new URL(endpoint);
      const passed = request({ hostname, port, method: req.method, path: req.url, headers: req.headers }, (reply) => {
        const body = [];
        reply.on('data', (part) => body.push(part));
        reply.on('end', async () => {
          if (await proxy.onCall?.(operation, 'after') === 'stop') { res.destroy(); return; }
          res.writeHead(reply.statusCode, reply.headers);
          res.end(Buffer.concat(body));
        });
      });
      passed.end(Buffer.concat(parts));
      return undefined;
    });
  });
  await new Promise((resolve) => { http.listen(0, '127.0.0.1', resolve); });
  after(() => { http.close(); http.closeAllConnections?.(); });
  proxy.endpoint = `http://127.0.0.1:${http.address().port}`;
  return proxy;
}

const changes = (operation) => !/^(Describe|List)/.test(operation);

test('killed at any call, before or after it is done, it goes on when it is run again', async () => {
  for (const moment of ['before', 'after']) {
    for (let stop = 1; ; stop += 1) {
      const server = await startServer({ data: null });
      const proxy = await between(server.endpoint);
      let run;
      let seen = 0;
      proxy.onCall = (operation, when) => {
        if (when !== moment || !changes(operation) || operation === 'UpdateContinuousBackups') return '';
        if ((seen += 1) !== stop) return '';
        run.child.kill('SIGKILL');
        return 'stop';
      };
      run = launch(['deploy', social, '--backend', proxy.endpoint, '--yes'], { env });
      const code = await within(30, 'the command to end', run.done);
      proxy.onCall = null;
      await deployed(proxy.endpoint);
      assert.match((await deployed(proxy.endpoint, ['--dry-run'])).stdout, /nothing to do/);
      await server.stop();
      if (code === 0) {
        assert.equal(stop, 5, 'two tables and two TTLs');
        break;
      }
      assert.equal(code, 'SIGKILL');
    }
  }
});

test('a dry run reads, and nothing to do makes no call that changes anything', async () => {
  const server = await fresh();
  const proxy = await between(server.endpoint);
  const body = [];
  proxy.onCall = (operation, when) => { if (when === 'before') body.push(operation); };
  await deploy(proxy.endpoint, ['--dry-run']);
  assert.deepEqual(body.filter(changes), ['UpdateContinuousBackups'], 'which names no table: what it says tells whether there is one');
  await deployed(server.endpoint);
  body.length = 0;
  await deployed(proxy.endpoint);
  assert.deepEqual(body.filter(changes), ['UpdateContinuousBackups']);
});

test('two at once make it together', async () => {
  for (let round = 0; round < 4; round += 1) {
    const server = await startServer({ data: null });
    const runs = await Promise.all([deploy(server.endpoint), deploy(server.endpoint), deploy(server.endpoint)]);
    for (const { code, stderr, stdout } of runs) assert.equal(code, 0, stderr + stdout);
    assert.match((await deployed(server.endpoint)).stdout, /nothing to do/);
    await server.stop();
  }
});

test('what cannot be changed is told with what to do, and nothing is done', async () => {
  const server = await fresh();
  const { ddb } = server;
  await ddb.createTable({ TableName: 'SocialMediaApp', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['PK', 'SK', 'GSI1PK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
    GlobalSecondaryIndexes: [{ IndexName: 'GSI1', KeySchema: [{ AttributeName: 'GSI1PK', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
  for (const args of [['--yes'], ['--dry-run']]) {
    const { code, stdout, stderr } = await deploy(server.endpoint, args);
    assert.equal(code, 1);
    assert.match(stdout, /! index GSI1 has the key GSI1PK, .*; the design says GSI1PK, GSI1SK\. .* give the index of the design another name/);
    assert.match(stdout, /! its stream shows KEYS_ONLY, the design says NEW_AND_OLD_IMAGES\. .*StreamEnabled=false/);
    assert.match(stderr, /nothing was changed/);
  }
  assert.deepEqual(await server.tables(), ['SocialMediaApp']);
  assert.equal((await described(server)).GlobalSecondaryIndexes.length, 1);
});

test('wrong credentials are told in a sentence, by serve, too', async () => {
  const keys = join(dir, 'keys');
  writeFileSync(keys, 'AKIDEXAMPLE right\n', { mode: 0o600 });
  const server = await startServer({ data: null, args: ['--keys', keys] });
  const wrong = await deploy(server.endpoint, ['--yes'], { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wrong' });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /SocialMediaApp: DescribeTable: .* the secret is not that of the access key/);
  assert.equal(wrong.stdout, '');
  const unknown = await deploy(server.endpoint, ['--yes'], { AWS_ACCESS_KEY_ID: 'AKIDOTHER', AWS_SECRET_ACCESS_KEY: 'right' });
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /does not know the access key/);
  const served = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', social, '--backend', server.endpoint],
    { env: { ...env, AWS_ACCESS_KEY_ID: 'AKIDOTHER' } });
  assert.notEqual(served.code, 0);
  assert.match(served.stderr, /does not know the access key/);
  await server.stop();
});

test('what is asked for wrongly is told, and nothing is called', async () => {
  const cases = [
    [[social], /where\? --backend/],
    [['--backend', 'aws'], /which design\?/],
    [[social, social, '--backend', 'aws'], /one word too many/],
    [[social, '--backend', 'http://db.example.com'], /use https, or a loopback address/],
    [[social, '--backend', 'aws', '--yes', '--dry-run'], /exclude each other/],
    [[social, '--format', 'cdk'], /not one of cloudformation, terraform/],
    [[social, '--format', 'policy', '--yes'], /--format and --yes exclude each other/],
    [[social, '--backend', 'aws', '--tag', 'x'], /is not a tag/],
    [[social, '--backend', 'aws', '--tag', 'aws:x=1'], /is not a tag/],
    [[social, '--backend', 'aws', '--tag', 'x=1', '--tag', 'x=2'], /given twice/],
    [[social, '--backend', 'aws', '--reads', '5/fortnight'], /is not a rate/],
    [[social, '--backend', 'aws', '--writes', '-1'], /is not a rate/],
    [[social, '--backend', 'aws', '--item-size', '0'], /number of bytes/],
  ];
  for (const [args, sentence] of cases) {
    const { code, stderr } = await runToEnd(['deploy', ...args], { env });
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, sentence);
  }
  const { code } = await runToEnd(['deploy', join(dir, 'absent.yaml'), '--backend', 'aws'], { env });
  assert.equal(code, 1);
});

test('as text it needs no credentials and no network', async () => {
  const bare = Object.fromEntries(Object.keys(process.env).filter((name) => name.startsWith('AWS_')).map((name) => [name, '']));
  const text = async (format, ...more) => {
    const { code, stdout, stderr } = await runToEnd(['deploy', social, '--format', format, ...more], { env: { ...bare, HOME: dir } });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const template = JSON.parse(await text('cloudformation', '--tag', 'team=x'));
  assert.deepEqual(Object.keys(template.Resources), ['Table', 'ThorpeTable', 'ServerPolicy']);
  // CreateTable's words, so Thorpe itself takes them.
  const server = await fresh();
  for (const id of ['Table', 'ThorpeTable']) {
    const { TimeToLiveSpecification, PointInTimeRecoverySpecification, StreamSpecification, ...properties } = template.Resources[id].Properties;
    await server.ddb.createTable({ ...properties, ...(StreamSpecification ? { StreamSpecification: { StreamEnabled: true, ...StreamSpecification } } : {}) });
    await server.ddb.updateTimeToLive({ TableName: properties.TableName, TimeToLiveSpecification });
  }
  await until('the tables to be active', async () => (await described(server)).TableStatus === 'ACTIVE');
  assert.match((await deployed(server.endpoint, ['--yes', '--tag', 'team=x'])).stdout, /nothing to do/);
  const terraform = await text('terraform');
  assert.match(terraform, /^resource "aws_dynamodb_table" "table" \{$/m);
  // As `terraform fmt` leaves it.
  assert.match(terraform, /^  name {24}= "SocialMediaApp"\n  billing_mode {16}= "PAY_PER_REQUEST"$/m);
  assert.match(terraform, /^  deletion_protection_enabled = true\n\n  attribute \{\n    name = "PK"$/m);
  assert.match(terraform, /^    "Version" : "2012-10-17",$/m);
  assert.match(await text('terraform', '--tag', 'größe=1', '--tag', 'a=2'), /^  tags = \{\n    "thorpe:design" = "social"\n    "größe" {9}= "1"\n    "a" {13}= "2"\n  \}$/m);
  const policy = JSON.parse(await text('policy', '--backend', 'aws:eu-central-1'));
  assert.deepEqual(policy.Statement.flatMap(({ Resource }) => Resource).sort(), ['', '.thorpe', '/index/*', '/stream/*']
    .map((tail) => `arn:aws:dynamodb:eu-central-1:*:table/SocialMediaApp${tail}`).sort());
  assert.ok(JSON.parse(await text('deploy-policy')).Statement[0].Action.includes('dynamodb:CreateTable'));
});

test('a server makes no tables elsewhere: it says what makes them, and what is not ready', async () => {
  // 0.0.0.0 is this machine, and not an address that is known to be.
  const cert = join(dir, 'cert.pem');
  const key = join(dir, 'key.pem');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:0.0.0.0,IP:127.0.0.1'], { stdio: 'ignore' });
  const server = await startServer({ data: null, args: ['--tls-cert', cert, '--tls-key', key, '--host', '0.0.0.0'] });
  servers.push(server);
  const where = `https://0.0.0.0:${server.port}`;
  const away = { ...env, AWS_CA_BUNDLE: cert };
  const refused = async (design = social) => {
    const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', design, '--backend', where], { env: away });
    assert.notEqual(code, 0, stderr);
    return stderr;
  };
  assert.match(await refused(), new RegExp(`there is no table SocialMediaApp; make it with \`thorpe deploy ${social} --backend ${where}\``));
  assert.match((await deploy(where, ['--dry-run'], away)).stdout, /SocialMediaApp: there is none yet/, 'it has made none');
  await deployed(where, ['--yes'], { design: small(''), ...away });
  assert.match(await refused(), /table SocialMediaApp has no stream, the design says NEW_AND_OLD_IMAGES; `thorpe deploy .*` sees to that, or says/);
  assert.match(await refused(small(GSI1)), /table SocialMediaApp has no index GSI1; `thorpe deploy /);
  await deployed(where, ['--yes'], away);
  const front = await startServer({ data: null, args: ['--design', social, '--backend', where], env: away });
  assert.match(front.log(), /table SocialMediaApp is there/);
  await front.stop();
});
