// A small seeded random generator, so that a failing run can be repeated.
// SPDX-License-Identifier: Apache-2.0

export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** An integer of 32 bits (mulberry32). */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return (x ^ (x >>> 14)) >>> 0;
  }

  below(n) {
    return this.next() % n;
  }

  between(low, high) {
    return low + this.below(high - low + 1);
  }

  chance(percent) {
    return this.below(100) < percent;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** `n` different elements. */
  sample(list, n) {
    const rest = [...list];
    return Array.from({ length: Math.min(n, rest.length) }, () => rest.splice(this.below(rest.length), 1)[0]);
  }

  /** A generator of its own, for a worker. */
  fork() {
    return new Random(this.next());
  }
}
