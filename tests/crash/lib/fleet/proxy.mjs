// A wire between a server and its database that can be cut, mended, and made slow.
//
// Cut: nothing passes, connections that are open stay open and silent, as when a cable is pulled; new ones are taken and stay silent.
// What was on its way when it is mended arrives then, late, unless the ends have given up.
// SPDX-License-Identifier: Apache-2.0
import net from 'node:net';

export class Proxy {
  static async open(port) {
    const proxy = new Proxy();
    proxy.target = port;
    proxy.sockets = new Set();
    proxy.delayMs = 0;
    proxy.server = net.createServer((near) => proxy.join(near));
    await new Promise((listening) => { proxy.server.listen(0, '127.0.0.1', listening); });
    proxy.port = proxy.server.address().port;
    return proxy;
  }

  get endpoint() {
    return `http://127.0.0.1:${this.port}`;
  }

  join(near) {
    const far = net.connect(this.target, '127.0.0.1');
    for (const [from, to] of [[near, far], [far, near]]) {
      this.sockets.add(from);
      from.setNoDelay(true);
      if (this.isCut) from.pause();
      from.on('data', (data) => {
        if (this.delayMs) setTimeout(() => to.writable && to.write(data), this.delayMs);
        else to.write(data);
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }

  cut() {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  mend() {
    this.isCut = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Closes what is open: requests under way lose their replies. */
  reset() {
    for (const socket of this.sockets) socket.destroy();
  }

  close() {
    this.server.close();
    this.reset();
  }
}
