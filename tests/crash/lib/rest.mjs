// Requests to the REST API of a design, over plain keep-alive connections.
// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import { NoAnswer } from './client.mjs';

export class Rest {
  constructor(port, connections = 64) {
    this.port = port;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  }

  close() {
    this.agent.destroy();
  }

  /** Resolves to { status, body } whatever the status; rejects with NoAnswer when the server has gone. */
  request(token, method, path, body) {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request({
        host: '127.0.0.1',
        port: this.port,
        method,
        path,
        agent: this.agent,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        },
      }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', () => reject(new NoAnswer(path)));
        response.on('close', () => {
          if (!response.complete) reject(new NoAnswer(path));
        });
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode, body: text ? JSON.parse(text) : undefined });
        });
      });
      request.on('error', (error) => reject(new NoAnswer(`${path}: ${error.message}`)));
      request.end(payload);
    });
  }
}
