// What the console gives to paste, run as somebody would who pasted it.
// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freshDirectory } from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const sources = join(here, '..', '..', 'console');
const run = promisify(execFile);

/** A module of the console, as node takes it. */
export async function consoleModule(path) {
  const { build } = createRequire(join(sources, 'package.json'))('esbuild');
  const { outputFiles } = await build({ entryPoints: [join(sources, 'src', path)], bundle: true, format: 'esm', write: false, platform: 'neutral' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const works = async (...command) => run(command[0], command.slice(1)).then(({ stdout, stderr }) => (stdout + stderr).trim() || 'yes', () => null);

/** What can be run here: the rest is skipped. */
export async function tools() {
  const aws = await works('aws', '--version');
  return {
    curl: await works('curl', '--version'),
    aws,
    // Version 1 takes the text of a binary value for the value itself.
    awsBinary: aws !== null && !/aws-cli\/1\./.test(aws),
    boto3: await works('python3', '-c', 'import boto3'),
    requests: await works('python3', '-c', 'import requests'),
  };
}

// Prints what a program shows as JSON, sets as lists: for comparing.
const AS_JSON = `console.dir = (value) => console.log(JSON.stringify(value ?? null, (_, one) => (one instanceof Set ? [...one]
  : one?.type === 'Buffer' ? { base64: Buffer.from(one.data).toString('base64') } : one)));\n`;

let directory;
/** A directory from which the SDKs of tests/wire are found. */
function workshop() {
  if (!directory) {
    directory = freshDirectory();
    symlinkSync(join(here, '..', 'wire', 'node_modules'), join(directory, 'node_modules'));
  }
  return directory;
}

let files = 0;
const options = { maxBuffer: 1 << 26, timeout: 60_000 };

/** Runs the text; gives what it printed, as JSON. */
export async function paste(language, text, env = {}) {
  const settings = { ...options, cwd: workshop(), env: { ...process.env, AWS_PAGER: '', ...env } };
  const printed = async () => {
    if (language === 'curl' || language === 'aws') return run('bash', ['-c', text], settings);
    if (language === 'python') return run('python3', ['-c', text], settings);
    const file = join(settings.cwd, `pasted-${files++}.mjs`);
    writeFileSync(file, AS_JSON + text);
    return run(process.execPath, [file], settings);
  };
  const { stdout } = await printed();
  return stdout.trim() ? JSON.parse(stdout) : null;
}
