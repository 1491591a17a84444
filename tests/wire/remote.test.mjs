// The client of a remote database, as `thorpe verify --endpoint` uses it: keys, TLS, and what is said when something is wrong.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXTERNAL, freshDirectory, runToEnd, startServer, thorpeTest as test } from './harness.mjs';

const dir = freshDirectory();
const design = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..', '..', 'designs', 'blog.yaml');
const cert = join(dir, 'cert.pem');
const secret = 'quite-a-secret-indeed';

async function start() {
  const key = join(dir, 'key.pem');
  const keys = join(dir, 'keys');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
  writeFileSync(keys, `AKIDEXAMPLE ${secret}\n`, { mode: 0o600 });
  return startServer({ data: null, args: ['--design', design, '--keys', keys, '--tls-cert', cert, '--tls-key', key] });
}
const server = EXTERNAL ? null : await start();

/** Asks the oracle, with nothing of AWS in the environment but what is given. */
async function ask(env, endpoint = server.endpoint) {
  const bare = Object.fromEntries(Object.keys(process.env).filter((name) => name.startsWith('AWS_')).map((name) => [name, '']));
  const { code, stdout, stderr } = await runToEnd(['verify', '--design', design, '--endpoint', endpoint],
    { env: { ...bare, HOME: dir, AWS_EC2_METADATA_DISABLED: 'true', AWS_CA_BUNDLE: cert, ...env } });
  assert.ok(!stderr.includes(secret) && !stdout.includes(secret), 'a secret is shown');
  return { code, stderr };
}

test('a server with keys and TLS is asked with the credentials of the environment', async () => {
  assert.deepEqual(await ask({ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: secret }), { code: 0, stderr: '' });
});

test('… or of a profile, or of what its program prints', async () => {
  const config = join(dir, 'config');
  writeFileSync(config, `[profile keys]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = ${secret}\n
[profile program]\ncredential_process = /bin/sh -c 'echo "{\\"Version\\":1,\\"AccessKeyId\\":\\"AKIDEXAMPLE\\",\\"SecretAccessKey\\":\\"${secret}\\"}"'\n`);
  for (const AWS_PROFILE of ['keys', 'program']) {
    assert.deepEqual(await ask({ AWS_PROFILE, AWS_CONFIG_FILE: config }), { code: 0, stderr: '' }, AWS_PROFILE);
  }
});

const good = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: secret };
const wrong = [
  ['a wrong secret', { ...good, AWS_SECRET_ACCESS_KEY: 'wrong' }, /the secret is not that of the access key/],
  ['half of the credentials', { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE' }, /AWS_SECRET_ACCESS_KEY is not: set both or neither/],
  ['a profile that is not there', { AWS_PROFILE: 'absent' }, /the profile 'absent' \(AWS_PROFILE\) is neither in/],
  ['another region', { ...good, AWS_REGION: 'eu-west-1' }, /is not in eu-west-1/],
  ['a certificate of nobody', { ...good, AWS_CA_BUNDLE: '' }, /certificate.*AWS_CA_BUNDLE/],
  ['no server', good, /does not answer/, 'http://127.0.0.1:1'],
  ['no credentials for Amazon', {}, /no credentials were found: looked at the environment/, 'aws:eu-west-1'],
  ['no region for Amazon', good, /no region was found/, 'aws'],
  ['plain text to elsewhere', good, /use https, or a loopback address/, 'http://db.example.com', 2],
  ['no address at all', good, /write aws, aws:REGION, https:\/\/HOST/, 'somewhere', 2],
];
for (const [name, env, sentence, endpoint, status = 1] of wrong) {
  test(`${name}: one sentence says what to do`, async () => {
    const { code, stderr } = await ask(env, endpoint);
    assert.equal(code, status);
    assert.match(stderr, sentence);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  });
}

test('a token for a design that was never served there: one sentence says which table is missing, and where', async () => {
  const database = await startServer({ data: null });
  const { code, stderr } = await runToEnd(['token', design, '--operator', '--backend', database.endpoint]);
  assert.equal(code, 1);
  assert.match(stderr, /^thorpe: there is no table \S+ at http:\S+: `thorpe deploy` makes the tables of a design\.$/m);
});
