// A client of server-sent events over bare HTTP, which hears comments and ids, too.
// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import https from 'node:https';
import { until, within } from './harness.mjs';

/** Someone who watches a list: events as { event, id, data } in `events`, until close() or the server's end. */
export class Watcher {
  events = [];
  comments = [];
  lastId = undefined;
  ended = false;
  #text = '';

  /** Resolves when the head of the reply is there; `status` tells. */
  static async open(caller, path, { last, ca, headers = {} } = {}) {
    const watcher = new Watcher();
    const secure = caller.base.startsWith('https');
    await within(20, `a reply to the watcher of ${path}`, new Promise((resolve, reject) => {
      watcher.request = (secure ? https : http).get(caller.base + path, {
        agent: false,
        ca,
        headers: {
          accept: 'text/event-stream',
          ...(caller.token ? { authorization: `Bearer ${caller.token}` } : {}),
          ...(last ? { 'last-event-id': last } : {}),
          ...headers,
        },
      }, (reply) => {
        watcher.reply = reply;
        watcher.status = reply.statusCode;
        watcher.headers = reply.headers;
        reply.setEncoding('utf8');
        reply.on('data', (text) => watcher.#hear(text));
        reply.on('close', () => { watcher.ended = true; });
        reply.on('error', () => { watcher.ended = true; });
        resolve();
      });
      watcher.request.on('error', reject);
    }));
    return watcher;
  }

  #hear(text) {
    this.#text += text;
    if (this.status !== 200) return;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const event = {};
      for (const line of this.#text.slice(0, end).split('\n')) {
        const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
        if (name === '') this.comments.push(value);
        else event[name] = value;
      }
      if (event.id) this.lastId = event.id;
      if (event.data) this.events.push({ ...event, data: JSON.parse(event.data) });
      this.#text = this.#text.slice(end + 2);
    }
  }

  /** The problem, of a reply that is none of events. */
  async problem() {
    await until('the end of the reply', () => this.ended);
    return JSON.parse(this.#text);
  }

  /** Waits for so many events and gives them as texts: ['ready', 'added p1']. `name`: the attribute that tells items apart. */
  async heard(count, name) {
    await until(`${count} events, of which there are ${JSON.stringify(this.events)}`, () => this.events.length >= count || this.ended, 15);
    return this.events.map(({ event, data }) => (name && data[name] !== undefined ? `${event} ${data[name]}` : event));
  }

  close() { this.request.destroy(); }
}
