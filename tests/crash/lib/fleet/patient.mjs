// A good client of several servers: each write has an Idempotency-Key, and what has no answer is asked again, at another server.
// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import http from 'node:http';

const TIMEOUT_MS = 5000; // of one try
const PATIENCE_MS = 240_000; // of a request: what a dead server was at is taken over after a minute
const pause = (ms) => new Promise((resume) => { setTimeout(resume, ms); });

function once(agent, port, { token, method, path, payload, key }) {
  return new Promise((resolve) => {
    const request = http.request({
      host: '127.0.0.1', port, method, path, agent, timeout: TIMEOUT_MS,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(key && { 'idempotency-key': key }),
        ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      },
    }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('close', () => resolve(undefined));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        let body;
        try {
          body = text ? JSON.parse(text) : undefined;
        } catch {
          return resolve(undefined);
        }
        return resolve({ status: response.statusCode, headers: response.headers, body });
      });
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.end(payload);
  });
}

export class Patient {
  /** `ports` gives the ports of the servers that a balancer would offer now. */
  constructor(ports, rng) {
    this.ports = ports;
    this.rng = rng;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 64 });
    this.tries = 0;
    this.repeated = 0;
    this.replayed = 0;
    this.foundDone = 0;
    this.statuses = {};
    this.longestMs = 0;
    this.surprises = [];
  }

  close() {
    this.agent.destroy();
  }

  /** { status, body }, whatever the status; undefined when patience was at its end. `at`: one server only. */
  async request(token, method, path, body) {
    const began = Date.now();
    const q = { token, method, path, payload: body === undefined ? undefined : JSON.stringify(body), key: method === 'GET' ? undefined : randomUUID() };
    for (let tries = 0; Date.now() - began < PATIENCE_MS; tries += 1) {
      const ports = this.ports();
      if (ports.length === 0) { await pause(100); continue; }
      if (tries) this.repeated += 1;
      this.tries += 1;
      const reply = await once(this.agent, this.rng.pick(ports), q);
      this.longestMs = Math.max(this.longestMs, Date.now() - began);
      if (!reply) { await pause(20); continue; }
      this.statuses[reply.status] = (this.statuses[reply.status] ?? 0) + 1;
      if (reply.status === 500) this.surprises.push(`${method} ${path} gave 500: ${JSON.stringify(reply.body)}`);
      if (reply.status >= 500 || reply.status === 429 || (reply.status === 409 && reply.headers['retry-after'])) {
        await pause(200);
        continue;
      }
      if (reply.headers['idempotency-replayed']) this.replayed += 1;
      // The server that did it died before it could answer: done, and nobody knows the answer.
      if (reply.status === 409 && /the first request went through/.test(reply.body?.detail ?? '')) {
        this.foundDone += 1;
        return { status: { POST: 201, DELETE: 204 }[method] ?? 200, body: undefined, isFoundDone: true };
      }
      return reply;
    }
    this.surprises.push(`${method} ${path} (key ${q.key}) had no answer in ${PATIENCE_MS / 1000} s`);
    return undefined;
  }
}
