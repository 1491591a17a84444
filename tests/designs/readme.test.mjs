// What README.md, the first page of the language and the how-to for tests show can be pasted: each block runs, and gives what is said.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BIN, ROOT, freshDirectory, startServer, until } from './harness.mjs';

const run = promisify(execFile);

/** The blocks of a language in a page, from a heading or text on. */
function blocks(page, language, from = '') {
  const text = readFileSync(join(ROOT, page), 'utf8');
  assert.ok(text.includes(from), `${page} has no '${from}'`);
  return [...text.slice(text.indexOf(from)).matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map((m) => m[1]);
}

/** A directory with thorpe and aws on its PATH. */
function workshop() {
  const dir = freshDirectory();
  mkdirSync(join(dir, 'bin'));
  symlinkSync(BIN, join(dir, 'bin', 'thorpe'));
  if (process.env.THORPE_AWS) symlinkSync(process.env.THORPE_AWS, join(dir, 'bin', 'aws'));
  const env = { PATH: `${join(dir, 'bin')}:${process.env.PATH}`, HOME: dir, LC_ALL: 'C.UTF-8' };
  return { dir, shell: async (script) => (await run('bash', ['-c', script], { cwd: dir, env, timeout: 60_000 })).stdout };
}

async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

test('README: the first five minutes can be pasted', async (t) => {
  const { dir, shell } = workshop();
  const designs = ['blog', 'fus', 'perfectit', 'social', 'wavyblog'].flatMap((name) => ['--design', join(ROOT, 'designs', `${name}.yaml`)]);
  const server = await startServer({ data: join(dir, 'thorpe-data'), args: [...designs, '--demo', join(ROOT, 'designs', 'demo')] });
  t.after(() => server.kill());
  const paste = (script) => shell(script.replaceAll('http://127.0.0.1:8000', server.endpoint)
    .replaceAll(/build\/thorpe call (.*)/g, `thorpe call $1 --endpoint ${server.endpoint}`));
  const [callApi, explain, watch, review, database] = blocks('README.md', 'sh', '## Five minutes');

  const lines = (await paste(callApi)).trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => line.user_id ?? line.items?.length ?? line.status), ['alice', 2, 'active', 409, 2]);
  const explained = await paste(explain);
  assert.match(explained, /\n1\. Query: .*"IndexName": "GSI1"/s);
  assert.match(explained, /"S": "FOLLOWING#dave"/);
  assert.match(await paste(watch.replace('curl -N', 'timeout 2 curl -sN').trim() + ' || test $? = 124'), /^event: ready/);
  assert.match(await paste(`${database}`), /"followers": \{\s*"N": "1"/);

  const checked = await shell(`cd ${ROOT}; ${review.replaceAll('build/thorpe', 'thorpe')} true`);
  assert.match(checked, /^1 design, 0 errors, 0 warnings\n/);
  const [, shown] = /\n```\n(tests\/designs\/as-written.*?)```\n/s.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'));
  assert.ok(checked.includes(shown), 'what the README shows of thorpe check is what it prints');

  const [script] = blocks('README.md', 'python');
  writeFileSync(join(dir, 'get.py'), script.replaceAll('http://127.0.0.1:8000', server.endpoint));
  assert.match((await run('/usr/bin/python3', ['get.py'], { cwd: dir })).stdout, /'name': 'Alice'/);

  const [follow] = blocks('README.md', 'js');
  const file = join(ROOT, 'tests', 'wire', `.follow-${process.pid}.mjs`); // beside the SDK's packages
  writeFileSync(file, follow.replaceAll('http://127.0.0.1:8000', server.endpoint));
  try {
    await run(process.execPath, [file]);
  } finally {
    await run('rm', [file]);
  }
  assert.match((await run('/usr/bin/python3', ['get.py'], { cwd: dir })).stdout, /'following': Decimal\('1'\)/);
  await server.stop();
});

test('design-language.md: the first sample can be followed', async () => {
  const { dir, shell } = workshop();
  const [design] = blocks('docs/design-language.md', 'yaml', 'A whole design, small');
  const [script] = blocks('docs/design-language.md', 'sh', 'A whole design, small');
  writeFileSync(join(dir, 'short.yaml'), design);
  const port = await freePort();
  const out = await shell(`${script.replace('short.yaml &', 'short.yaml --ready-file up 2>/dev/null &\nuntil [ -s up ]; do sleep 0.05; done')
    .replaceAll(':8000', `:${port}`).replace('thorpe serve', `thorpe serve --listen 127.0.0.1:${port}`).replaceAll('curl ', 'curl -s ')}\nkill %1; wait`);
  assert.deepEqual(out.trim().split('\n').map((line) => JSON.parse(line).hits), [0, 1]);
});

test('howto/tests-and-ci.md: the shell and the test of Node.js work', async () => {
  const { dir, shell } = workshop();
  copyFileSync(join(ROOT, 'designs', 'social.yaml'), join(dir, 'social.yaml'));
  const [script] = blocks('docs/howto/tests-and-ci.md', 'sh');
  assert.match(await shell(`${script}wait\n`), /^\{"subject":"alice","roles":\[\]\}$/m);
  const [file] = blocks('docs/howto/tests-and-ci.md', 'js');
  writeFileSync(join(dir, 'thorpe.test.mjs'), file);
  const report = await until('its report', () => shell('unset NODE_TEST_CONTEXT; node --test thorpe.test.mjs 2>&1 || true'));
  assert.match(report, /(# |ℹ )pass 1\b/);
  assert.match(report, /(# |ℹ )fail 0\b/);
});
