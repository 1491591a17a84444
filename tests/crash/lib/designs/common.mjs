// What the designs' flows and recounts share.
// SPDX-License-Identifier: Apache-2.0

/** An item without the types of its attributes. */
export function plain(value) {
  const [[type, inner]] = Object.entries(value);
  if (type === 'N') return Number(inner);
  if (type === 'NULL') return null;
  if (type === 'L') return inner.map(plain);
  if (type === 'M') return plainItem(inner);
  return inner;
}

export const plainItem = (item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));

/** A map of keys to the values that have them. */
export function groupBy(list, keyOf) {
  const groups = new Map();
  for (const each of list) {
    const key = keyOf(each);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(each);
  }
  return groups;
}

/** The items of a table, with what a recount asks of them, and what it found wrong. */
export class Recount {
  constructor(items) {
    this.items = items;
    this.wrong = [];
    this.checks = 0;
    this.byKey = new Map(items.map((item) => [`${item.PK} ${item.SK}`, item]));
  }

  get(PK, SK) {
    return this.byKey.get(`${PK} ${SK}`);
  }

  /** The items whose keys match. */
  where(pk, sk) {
    return this.items.filter((item) => pk.test(item.PK) && sk.test(item.SK));
  }

  check(isRight, complaint) {
    this.checks += 1;
    if (!isRight) this.wrong.push(complaint);
  }

  equal(found, expected, what) {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    this.check(a === b, `${what}: there is ${a}, it should be ${b}`);
  }

  /** Each counter of `owners` against the number (or sum) of the items that `of` assigns to it. */
  counter(owners, name, counted, ownerOf, amount = () => 1) {
    const sums = new Map();
    for (const item of counted) {
      const owner = ownerOf(item);
      sums.set(owner, (sums.get(owner) ?? 0) + amount(item));
    }
    for (const owner of owners) this.equal(owner[name], sums.get(`${owner.PK} ${owner.SK}`) ?? 0, `${name} of ${owner.PK} ${owner.SK}`);
  }

  /** Guards and what they guard, as lists of texts: each has its other half, and nothing is there twice. */
  pairs(guards, guarded, what) {
    this.equal([...guards].sort(), [...guarded].sort(), what);
    this.equal(new Set(guards).size, guards.length, `${what}, each once`);
  }

  unique(values, what) {
    const seen = new Set();
    for (const value of values) {
      this.check(!seen.has(value), `${what}: ${value} is there twice`);
      seen.add(value);
    }
  }
}
