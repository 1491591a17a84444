// A gate between a server and its database: it counts requests, and can refuse them, hold them back, or keep their replies.
//
//   const gate = await openGate(endpoint);                    // gate.endpoint is for --backend
//   gate.keep = ({ operation, body }) => …;                   // carried out, and the reply is kept until gate.release()
//   gate.hold = ({ operation, body }) => …;                   // not even carried out before that
//   gate.refuse = ({ operation, key }) => ({ type, message }) // an error of DynamoDB's in place of a reply (400, or `status`); undefined: none
//   gate.counts.GetRecords
//
// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import { after } from 'node:test';

const collect = (stream) => new Promise((resolve, reject) => {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('end', () => resolve(Buffer.concat(chunks)));
  stream.on('error', reject);
});

export async function openGate(endpoint) {
  const { port } = new URL(endpoint);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
  const gate = { counts: {}, held: 0, kept: 0, waiting: [], keep: () => false, hold: () => false, refuse: () => undefined };
  const toDatabase = (request, body) => new Promise((resolve, reject) => {
    const out = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url, headers: request.headers, agent }, async (reply) => {
      resolve({ status: reply.statusCode, headers: reply.headers, body: await collect(reply) });
    });
    out.on('error', reject);
    out.end(body);
  });
  const released = () => new Promise((resolve) => { gate.waiting.push(resolve); });
  const pass = async (request, response) => {
    const body = await collect(request);
    const asked = {
      operation: /\.(\w+)$/.exec(request.headers['x-amz-target'] ?? '')?.[1],
      key: /Credential=([^/]+)/.exec(request.headers.authorization ?? '')?.[1],
      body: body.toString(),
    };
    gate.counts[asked.operation] = (gate.counts[asked.operation] ?? 0) + 1;
    const refusal = gate.refuse(asked);
    if (refusal) {
      response.writeHead(refusal.status ?? 400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: `com.amazon.coral.service#${refusal.type}`, message: refusal.message }));
      return;
    }
    if (gate.hold(asked)) {
      gate.held += 1;
      await released();
    }
    const reply = await toDatabase(request, body);
    if (gate.keep(asked)) {
      gate.kept += 1;
      await released();
    }
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  };
  const server = http.createServer((request, response) => { pass(request, response).catch(() => response.destroy()); });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  gate.endpoint = `http://127.0.0.1:${server.address().port}`;
  gate.release = () => {
    Object.assign(gate, { keep: () => false, hold: () => false });
    for (const go of gate.waiting.splice(0)) go();
  };
  after(() => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  return gate;
}
