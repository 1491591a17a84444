// Several servers in front of one database, each with a wire of its own to it, and what can happen to them.
// SPDX-License-Identifier: Apache-2.0
import { Server } from '../server.mjs';
import { Proxy } from './proxy.mjs';

const pause = (ms) => new Promise((resume) => { setTimeout(resume, ms); });

export class Fleet {
  /** `database`: { port }; `args` of each server but for --backend. */
  static async open(count, database, args, env) {
    const fleet = new Fleet();
    Object.assign(fleet, { args, env, troubles: {}, violations: [], ends: [] });
    fleet.places = [];
    for (let i = 0; i < count; i += 1) fleet.places.push({ wire: await Proxy.open(database.port) });
    for (const place of fleet.places) await fleet.start(place);
    return fleet;
  }

  get ports() {
    return this.places.map(({ server }) => server?.port).filter(Boolean);
  }

  get logs() {
    return this.places.map(({ server }, i) => `--- server ${i}\n${server?.log.slice(-2500)}`).join('\n');
  }

  note(what) {
    this.troubles[what] = (this.troubles[what] ?? 0) + 1;
  }

  async start(place) {
    // Its database may be away: then it says so and ends, and is started again, as by a service manager.
    for (;;) {
      try {
        place.server = await Server.start(null, { args: [...this.args, '--backend', place.wire.endpoint], env: this.env });
        return;
      } catch (error) {
        if (!place.wire.isCut && !this.isDatabaseAway && !this.isClosing) this.violations.push(`a server did not start: ${error.message.slice(0, 1500)}`);
        if (this.isClosing) return;
        await pause(500);
      }
    }
  }

  isWell(place) {
    return place.server?.alive && !place.isHung && !place.wire.isCut && !place.isBusy;
  }

  /** Gone without a word; another is started in its place a while later. */
  async kill(place, awayMs) {
    place.isBusy = true;
    if (!place.server.alive) this.violations.push(`a server died by itself: ${place.server.log.slice(-1500)}`);
    await place.server.kill();
    this.note('kills');
    await pause(awayMs);
    await this.start(place);
    place.isBusy = false;
  }

  async restart(place) {
    place.isBusy = true;
    await place.server.stop();
    this.note('restarts');
    await this.start(place);
    place.isBusy = false;
  }

  async hang(place, ms) {
    const { server } = place;
    place.isHung = true;
    server.hang();
    this.note('hung');
    await pause(ms);
    server.wake();
    place.isHung = false;
  }

  async cut(place, ms) {
    place.wire.cut();
    this.note('cut off');
    await pause(ms);
    place.wire.mend();
  }

  async slow(place, delayMs, ms) {
    place.wire.delayMs = delayMs;
    this.note('slow wires');
    await pause(ms);
    place.wire.delayMs = 0;
  }

  loseReplies(place) {
    place.wire.reset();
    this.note('connections lost');
  }

  async stop() {
    this.isClosing = true;
    for (const { server, wire } of this.places) {
      wire.mend();
      if (server?.alive) {
        server.wake();
        await server.stop();
      }
    }
    for (const { wire } of this.places) wire.close();
  }

  async kill9() {
    this.isClosing = true;
    for (const { server, wire } of this.places) {
      if (server?.alive) await server.kill().catch(() => {});
      wire.close();
    }
  }
}
