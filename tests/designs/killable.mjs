// A design on a server that a test kills and starts again, on the same data.
//
//   const place = killable(t, 'fus');
//   let run = await place.start();                        // { server, ddb, doc, streams, operator }
//   run = await place.killAndStart(run);
//   await place.end(run);                                 // stopped, and every index agrees with its table
//
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, startServer, verify } from './harness.mjs';

export function killable(t, design, data = freshDirectory(), args = []) {
  const file = existsSync(design) ? design : join(ROOT, 'designs', `${design}.yaml`);
  const name = file.replace(/.*\//, '').replace(/\.yaml$/, '');
  const servers = [];
  t.after(() => servers.forEach(({ child }) => child.kill('SIGKILL'))); // a failure must not wait for it

  /** A caller: the flags of `thorpe token`. */
  const caller = async (server, ...flags) => {
    const { code, stdout, stderr } = await runToEnd(['token', name, '--data', data, ...flags]);
    assert.equal(code, 0, stderr);
    return new Caller(`${server.endpoint}/api/${name}`, stdout.trim());
  };
  const letGo = ({ ddb, streams }) => {
    ddb.destroy();
    streams.destroy();
  };
  const place = {
    start: async () => {
      const server = await startServer({ data, args: ['--design', file, ...args] });
      servers.push(server);
      return { server, ...clientsFor(server.endpoint), operator: await caller(server, '--operator'), as: (...flags) => caller(server, ...flags) };
    },
    killAndStart: async (run) => {
      await run.server.kill();
      letGo(run);
      return place.start();
    },
    end: async (run) => {
      await run.server.stop();
      letGo(run);
      await verify(data);
    },
  };
  return place;
}
