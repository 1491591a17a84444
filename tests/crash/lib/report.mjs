// One line per round, a count at the end, an exit code.
// SPDX-License-Identifier: Apache-2.0

const LONGEST = 2500; // characters of one complaint

class Tally {
  constructor() {
    this.passed = 0;
    this.failed = 0;
  }

  get total() {
    return this.passed + this.failed;
  }

  say(text) {
    process.stdout.write(`${text}\n`);
  }

  /** Runs one round, which returns its line. The round has failed when it throws or when the model has
   *  noted violations; then the result is undefined. */
  async run(round, model) {
    let line;
    const wrong = [];
    try {
      line = await round();
    } catch (error) {
      wrong.push(error.stack ?? String(error));
    }
    wrong.unshift(...model.violations.splice(0));
    if (wrong.length === 0) {
      this.passed += 1;
      this.say(`ok ${this.total}: ${line}`);
      return line;
    }
    this.failed += 1;
    this.say(`FAILED ${this.total}: ${line ?? ''}`);
    for (const text of wrong.slice(0, 20)) this.say(`    ${text.slice(0, LONGEST)}`);
    if (wrong.length > 20) this.say(`    … and ${wrong.length - 20} more`);
    return undefined;
  }
}

export async function report(title, body) {
  const tally = new Tally();
  tally.say(title);
  try {
    await body(tally);
  } catch (error) {
    tally.failed += 1;
    tally.say(error.stack ?? String(error));
  }
  tally.say(`${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed ? 1 : 0);
}
