// What clients were told, and whether the items that are left agree with it.
//
// A key names one thing, such as `like p1 ann`. Each write of it is an event with the moments at which it was sent and
// answered; a write without an answer ends at Infinity, because it may have happened at any time. Two writes are in
// order only when one was answered before the other was sent. So:
//
//   - a thing may be absent after an acknowledged creation only when some deletion of it, or of something that it goes
//     with, was not over before that creation was sent. Of what it hangs on at second hand (`below`), an earlier
//     deletion will do as well, until that is created again: what is in between goes a moment later;
//   - a thing may be present only when some creation was not over before the last acknowledged deletion was sent;
//   - its value is that of a put which no acknowledged write has followed.
//
// A put that was answered with 201 is a creation, one answered with 200 an update (or an action that `creates`, so
// either): it says nothing of whether the thing stays, because what belongs to a deleted thing can be changed until it is
// removed, too.
//
// SPDX-License-Identifier: Apache-2.0

export class Ledger {
  constructor() {
    this.events = new Map(); // key -> events
    this.ticks = 0;
    this.puts = 0;
    this.deletions = 0;
    this.inDoubt = 0;
    this.created = {}; // the first word of a key -> how many were made, as acknowledged
  }

  tick() {
    this.ticks += 1;
    return this.ticks;
  }

  of(key) {
    return this.events.get(key) ?? [];
  }

  note(key, event) {
    if (!this.events.has(key)) this.events.set(key, []);
    this.events.get(key).push(event);
  }

  /** Sends a request and notes what it does. An effect is one of
   *    { put: key, value, under, … }      value: left out when it is not followed; under: the keys of what it goes with,
   *                                       below: of what those go with;
   *                                       may: it makes the thing when it is not there, and does not say so;
   *                                       creates: it makes the thing here, whatever the status is
   *    { touch: key, under, may }         a put that leaves the value of what is there
   *    { gone: key }
   *    { maybe: key }                     a deletion that may follow, now or later
   *  `send` resolves to a reply, or to undefined when there was none. */
  async act(effects, send) {
    const sent = this.tick();
    const reply = await send();
    if (reply && reply.status >= 400 && reply.status < 500) return reply;
    // A 5xx may have happened as well.
    const sure = reply !== undefined && reply.status < 400;
    const isCreation = !sure || reply.status === 201;
    const end = sure ? this.tick() : Infinity;
    const told = typeof effects === 'function' ? effects(reply) : effects;
    if (!sure) this.inDoubt += 1;
    for (const { put, touch, gone, maybe, value, under = [], below = [], creates = isCreation, may } of told) {
      if (put || touch) {
        this.puts += sure ? 1 : 0;
        if (sure && creates) this.countCreation(put ?? touch);
        this.note(put ?? touch, { put: true, value, follows: put !== undefined && value !== undefined, under, below, sent, end, sure, creates, may: creates || may });
      } else if (gone) {
        this.deletions += sure ? 1 : 0;
        this.note(gone, { put: false, sent, end, sure });
      } else {
        this.note(maybe, { put: false, sent, end: Infinity, sure: false });
      }
    }
    return reply;
  }

  countCreation(key) {
    const [kind] = key.split(' ');
    this.created[kind] = (this.created[kind] ?? 0) + 1;
  }

  deletionsFor(key, put) {
    return [key, ...put.under, ...put.below].flatMap((each) => this.of(each).filter((event) => !event.put));
  }

  explains(key, put) {
    const isOver = (gone, other) => this.of(other).some((again) => again.put && again.may && again.sent > gone.end && again.end < put.sent);
    return this.deletionsFor(key, put).some((gone) => gone.end > put.sent)
      || put.below.some((other) => this.of(other).some((gone) => !gone.put && !isOver(gone, other)));
  }

  complaint(key, thing) {
    const events = this.of(key);
    const puts = events.filter((event) => event.put);
    const outlived = (put) => !this.deletionsFor(key, put).some((gone) => gone.sure && gone.sent > put.end);
    if (!thing) {
      const lost = puts.find((put) => put.sure && put.creates && !this.explains(key, put));
      return lost && `${key} is not there: acknowledged, and nobody has deleted it since`;
    }
    if (puts.length === 0) return thing.isNamed ? undefined : `${key} is there: nobody has made it`;
    if (!puts.some((put) => put.may && outlived(put))) return `${key} is there: its deletion was acknowledged`;
    if (!puts.some((put) => put.follows)) return undefined;
    const isLast = (put) => !events.some((other) => other.follows && other.sure && other.sent > put.end);
    const allowed = puts.filter((put) => outlived(put) && isLast(put)).map((put) => put.value);
    return allowed.includes(thing.value) ? undefined
      : `${key} says ${JSON.stringify(thing.value)}; the last that was acknowledged is ${JSON.stringify(allowed)}`;
  }

  /** Compares with what is there: a map of keys to
   *    { value, under, below, isNamed }                 isNamed: the server chose the name, so a put in doubt has no key
   *  Then takes that for granted: nothing is in doubt any more. */
  settle(there) {
    const complaints = [];
    for (const key of new Set([...this.events.keys(), ...there.keys()])) {
      const wrong = this.complaint(key, there.get(key));
      if (wrong) complaints.push(`${wrong}; ${this.story(key)}`);
    }
    this.events.clear();
    const now = this.tick();
    for (const [key, { value, under = [], below = [] }] of there) {
      this.note(key, { put: true, value, follows: value !== undefined, under, below, sent: now, end: now, sure: true, creates: true, may: true });
    }
    return complaints;
  }

  /** The events of a key and of what it goes with, for those who look for the cause. */
  story(key) {
    const all = this.of(key).map((event) => [key, event]);
    for (const other of new Set(all.flatMap(([, event]) => [...(event.under ?? []), ...(event.below ?? [])]))) {
      for (const event of this.of(other)) if (event.put && event.may) all.push([other, { ...event, under: [], below: [] }]);
      for (const event of this.of(other)) if (!event.put) all.push([other, event]);
    }
    const tell = ([name, { put, value, sent, end }]) => `${put ? 'put' : 'deletion'} of ${name}${value === undefined ? '' : ` ${value}`} [${sent}, ${end}]`;
    const told = all.filter(([name, event]) => name === key || event.sure || !event.put);
    return told.sort(([, a], [, b]) => a.sent - b.sent).slice(-16).map(tell).join('; ');
  }
}
