// People, an organisation and repositories, for the tests of designs/examples/code-host.yaml.
// SPDX-License-Identifier: Apache-2.0
import { startDesign } from './harness.mjs';

export const PASSWORD = 'a long enough password';
export const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const KINDS = ['thumbs_up', 'thumbs_down', 'laugh', 'heart', 'rocket', 'eyes'];

/** Ann owns the organisation acme, abe is a member of it; bob and cat are somewhere else. */
export async function startCodeHost(options) {
  const app = await startDesign('code-host', options);
  const operator = await app.operator();
  const person = async (name) => {
    await app.nobody.post('/users', { user: name, email: `${name}@example.com`, password: PASSWORD });
    return app.login(name, PASSWORD);
  };
  const [ann, abe, bob, cat] = await Promise.all(['ann', 'abe', 'bob', 'cat'].map(person));
  await ann.post('/organisations', { organisation: 'acme', title: 'Acme' });
  await ann.put('/organisations/acme/members/abe', {});
  /** A repository's address. */
  const repository = async (caller, body) => `/repositories/${(await caller.post('/repositories', body)).body.repository}`;
  return { app, operator, person, repository, ann, abe, bob, cat };
}

/** All counters against what they count. */
export function recount(items) {
  const wrong = [];
  const check = (item, name, count) => { if (item[name] !== count) wrong.push(`${item.PK} ${item.SK}: ${name} is ${item[name]} and not ${count}`); };
  const by = (prefix) => items.filter((item) => item.SK.startsWith(prefix));
  for (const repo of items.filter(({ SK }) => SK === 'REPO')) {
    const mine = (prefix) => by(prefix).filter(({ PK }) => PK === repo.PK);
    for (const state of ['open', 'closed']) check(repo, `issues.${state}`, mine('ISSUE#').filter((issue) => issue.state === state).length);
    for (const state of ['open', 'merged', 'closed']) check(repo, `pulls.${state}`, mine('PULL#').filter((pull) => pull.state === state).length);
    check(repo, 'stars', mine('STAR#').length);
    check(repo, 'watchers', mine('WATCH#').length);
    check(repo, 'forks', items.filter((item) => item.SK === 'REPO' && item.fork_of === repo.repository).length);
    for (const label of mine('LABEL#')) check(label, 'uses', mine('ISSUE#').filter(({ labels }) => labels?.includes(label.label)).length);
    for (const target of [...mine('ISSUE#'), ...mine('PULL#')]) {
      const hangs = items.filter(({ PK }) => PK === `${repo.PK}#${String(target.number).padStart(7, '0')}`);
      check(target, 'comments', hangs.filter(({ SK }) => SK.startsWith('COMMENT#')).length);
      for (const kind of KINDS) check(target, `reactions.${kind}`, hangs.filter(({ SK }) => SK.startsWith(`REACTION#${kind}#`)).length);
      for (const comment of hangs.filter(({ SK }) => SK.startsWith('COMMENT#'))) {
        for (const kind of KINDS) check(comment, `reactions.${kind}`, hangs.filter(({ SK }) => SK.startsWith(`ONCOMMENT#${comment.comment}#${kind}#`)).length);
      }
    }
  }
  for (const account of items.filter(({ SK }) => SK === 'ACCOUNT')) {
    check(account, 'repositories', items.filter((item) => item.SK === 'REPO' && item.owner === account.account).length);
  }
  for (const user of items.filter(({ SK }) => SK === 'USER')) check(user, 'starred', by('STAR#').filter((star) => star.user === user.user).length);
  for (const organisation of items.filter(({ SK }) => SK === 'ORGANISATION')) {
    const members = by('MEMBER#').filter(({ PK }) => PK === organisation.PK);
    check(organisation, 'members', members.length);
    check(organisation, 'owners', members.filter(({ role }) => role === 'owner').length);
  }
  return wrong;
}
