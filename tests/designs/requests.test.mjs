// Every access pattern of the designs that ship, called by its name: the requests it makes are the ones `thorpe doc` tells.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { BIN, ROOT, SHIPPED as designs, designFile, startDesign } from './harness.mjs';

/** Something for each parameter that a value of its kind could be. */
const VALUES = {
  date: '2026-01-15', day: '2026-01-15', from: '2026-01-01T00:00:00Z', to: '2026-12-31T00:00:00Z', since: '2026-01-01T00:00:00Z', cutoff: '2026-01-01T00:00:00Z',
  stars: '3', least: '1', most: '9', lat: '48.2', lon: '16.4', q: 'bread shelf', status: 'PUBLISHED', role: 'author', id: 'some',
};

/** The same for one design; and whose lists of the caller's own are asked for. */
const OWN = { saas: { status: 'todo', month: '2026-01' }, 'code-host': { state: 'open', number: '1' }, shop: { status: 'paid' } };
const CALLER = { subject: 'some', claims: { tenant: 'some' } };

for (const name of designs) {
  test(`${name}: each pattern makes GetItem, BatchGetItem and Query requests only, on the index it says`, async () => {
    const app = await startDesign(name, { args: ['--demo', join(ROOT, 'designs', 'demo')] });
    const operator = await app.operator();
    const told = JSON.parse(execFileSync(BIN, ['doc', '--json', designFile(name)], { cwd: ROOT, encoding: 'utf8' }));
    const { body: { access } } = await app.nobody.get('');
    assert.ok(access.length > 5);
    for (const pattern of access) {
      const names = [...(pattern.path ?? '').matchAll(/<(\w+)/g)].map(([, parameter]) => parameter).concat(pattern.parameters ?? []);
      const withBatch = told.find((service) => service.name === pattern.name)?.request.startsWith('BatchGetItem') ? ['id'] : [];
      const parameters = Object.fromEntries([...names, ...withBatch].map((parameter) => [parameter, OWN[name]?.[parameter] ?? VALUES[parameter] ?? 'some']));
      const call = (as) => operator.request('POST', '/call', { body: { pattern: pattern.name, with: parameters, explain: true, as } });
      const asOperator = await call(withBatch.length ? CALLER : null);
      const { status, body } = asOperator.status === 401 || !asOperator.body.requests.length ? await call(CALLER) : asOperator;
      assert.ok(status === 200 || status === 404, `${pattern.name}: ${status} ${JSON.stringify(body)}`);
      assert.ok(body.requests.length > 0, `${pattern.name} made no request`);
      for (const { operation, request } of body.requests) {
        assert.ok(['GetItem', 'BatchGetItem', 'Query'].includes(operation), `${pattern.name}: ${operation}`);
        const { IndexName } = typeof request === 'string' ? JSON.parse(request) : request;
        const said = told.filter((service) => service.name === pattern.name).map((service) => service.request).join();
        if (IndexName && said) assert.ok(said.includes(`Query ${IndexName}:`), `${pattern.name} queries ${IndexName}, but: ${said}`);
      }
    }
  });
}
