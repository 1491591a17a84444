// Two companies and the people in them, for the tests of designs/examples/saas.yaml.
// SPDX-License-Identifier: Apache-2.0
import { startDesign } from './harness.mjs';

export const PASSWORD = 'a long enough password';

/** The price list: two projects and three seats for free. */
export async function startSaas(options) {
  const app = await startDesign('saas', options);
  const operator = await app.operator();
  for (const [plan, price, projects, seats] of [['free', 0, 2, 3], ['team', 20, 5, 30], ['large', 100, 1000, 1000]]) {
    await operator.post('/plans', { plan, title: `The ${plan} one`, price, projects, seats });
  }
  /** Signs up and logs in. */
  const person = async (name) => {
    const { location } = await app.nobody.post('/users', { email: `${name}@example.com`, name, password: PASSWORD });
    const caller = await app.login(`${name}@example.com`, PASSWORD);
    caller.user = location.split('/').pop();
    caller.email = `${name}@example.com`;
    return caller;
  };
  /** Brings a person into a tenant. */
  const join = async (owner, tenant, guest, role) => {
    const { body: { invite } } = await owner.post(`/tenants/${tenant}/invites`, { email: guest.email, role });
    await guest.post(`/tenants/${tenant}/invites/${invite}/accept`);
  };
  return { app, operator, person, join };
}

/** The counters of tenants and projects against what they count, and seats against memberships. */
export function recount(items) {
  const wrong = [];
  const of = (prefix) => items.filter((item) => item.SK.startsWith(prefix));
  const check = (item, name, is, count) => { if (is !== count) wrong.push(`${item.PK} ${item.SK}: ${name} is ${is} and not ${count}`); };
  for (const tenant of items.filter((item) => item.SK === 'TENANT')) {
    const mine = (prefix) => of(prefix).filter((item) => item.PK === tenant.PK);
    check(tenant, 'projects', tenant.projects, mine('PROJECT#').length);
    check(tenant, 'members', tenant.members, mine('MEMBER#').length);
    check(tenant, 'owners', tenant.owners, mine('MEMBER#').filter(({ role }) => role === 'owner').length);
  }
  for (const project of of('PROJECT#')) {
    for (const status of ['todo', 'doing', 'review', 'done']) {
      check(project, status, project[`tasks.${status}`], of('TASK#').filter((task) => task.PK === `${project.PK}#${project.SK}` && task.status === status).length);
    }
  }
  const pairs = (prefix) => of(prefix).map(({ tenant, user }) => `${tenant} ${user}`).sort().join();
  if (pairs('MEMBER#') !== pairs('SEAT#')) wrong.push(`memberships ${pairs('MEMBER#')}, seats ${pairs('SEAT#')}`);
  return wrong;
}
