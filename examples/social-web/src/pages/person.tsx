// A person: profile, following and blocking, posts, followers.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { type Follow, NotFoundError, type User } from '../generated/social';
import { useCell } from '../lib/cell';
import { sourceOf, useLiveItems } from '../lib/lists';
import { to } from '../lib/router';
import { api, logOut, profile, session } from '../lib/session';
import { Rich } from '../lib/text';
import { say } from '../lib/toasts';
import { Avatar, Confirm, Loading, More, Problem, useAction } from '../ui/controls';
import { Icon } from '../ui/icons';
import { Posts } from '../ui/posts';

type State = 'none' | 'active' | 'pending' | 'blocked';

async function edgeState(follower_id: string, followed_id: string): Promise<State> {
  try {
    const { state } = await api.getFollow({ follower_id, followed_id });
    return state === 'blocked' || state === 'pending' ? state : 'active';
  } catch (error) {
    if (error instanceof NotFoundError) return 'none';
    throw error;
  }
}

/** How the person who is logged in stands to another one. */
async function relationTo(me: string, them: string): Promise<{ mine: State; blocked: boolean }> {
  const [mine, theirs] = await Promise.all([edgeState(me, them), edgeState(them, me)]);
  return { mine, blocked: theirs === 'blocked' };
}

interface RelationProps {
  user: User;
  me: string;
  onChange: () => void;
}

function Relation({ user, me, onChange }: RelationProps) {
  const [relation, setRelation] = useState<{ mine: State; blocked: boolean }>();
  const [blocking, setBlocking] = useState(false);
  const { busy, error, act } = useAction();
  const edge = { follower_id: me, followed_id: user.user_id };
  const name = user.username ?? '';
  const load = async () => setRelation(await relationTo(me, user.user_id));
  useEffect(() => void act(load), [user.user_id, me]);
  const change = (run: () => Promise<unknown>) =>
    void act(async () => {
      try {
        await run();
      } finally {
        await load(); // whatever happened: this is how it is now
        onChange();
      }
    });
  if (!relation) return <Problem error={error} retry={() => void act(load)} />;
  const { mine, blocked } = relation;
  const unfollow = () => change(() => api.deleteFollow(edge));
  const unblock = () => change(() => api.deleteFollow({ follower_id: user.user_id, followed_id: me }));
  return (
    <div class="stack">
      <div class="row">
        {blocked ? (
          <button type="button" class="button" disabled={busy} onClick={unblock}>
            Unblock
          </button>
        ) : mine === 'active' ? (
          <button type="button" class="button" disabled={busy} onClick={unfollow}>
            Unfollow
          </button>
        ) : mine === 'pending' ? (
          <button type="button" class="button" disabled={busy} onClick={unfollow}>
            Take the request back
          </button>
        ) : (
          <button
            type="button"
            class="button button-primary"
            disabled={busy}
            onClick={() => change(() => api.putFollow(edge))}
          >
            {user.is_private ? 'Ask to follow' : 'Follow'}
          </button>
        )}
        {!blocked && (
          <button type="button" class="button button-plain" disabled={busy} onClick={() => setBlocking(true)}>
            Block
          </button>
        )}
      </div>
      {mine === 'pending' && <p class="quiet">Your request waits for the approval of {name}.</p>}
      {blocked && <p class="quiet">You have blocked {name}: neither of you sees the posts of the other.</p>}
      <Problem error={error} />
      {blocking && (
        <Confirm
          title={`Block ${name}?`}
          action="Block"
          onClose={() => setBlocking(false)}
          run={async () => {
            await api.blockFollow({ follower_id: user.user_id, followed_id: me });
            await load();
            onChange();
            say(`${name} is blocked.`);
          }}
        >
          You no longer follow each other, and neither of you sees the posts of the other.
        </Confirm>
      )}
    </div>
  );
}

function Head({ user, onChange }: { user: User; onChange: () => void }) {
  const me = useCell(session);
  const name = user.username ?? '';
  const isMe = me?.id === user.user_id;
  return (
    <section class="card person" aria-label="Profile">
      <div class="person-head">
        <Avatar name={name} url={user.profile_image_url} large />
        <div class="person-names">
          <h1 class="break">{user.display_name || name}</h1>
          <p class="quiet break">
            @{name}
            {user.is_verified && (
              <span class="badge">
                <Icon name="check" /> verified
              </span>
            )}
            {user.is_private && (
              <span class="badge">
                <Icon name="lock" /> private
              </span>
            )}
          </p>
        </div>
      </div>
      {user.bio && (
        <p class="words">
          <Rich text={user.bio} />
        </p>
      )}
      <p class="counts">
        <span>
          <b>{user.posts_count ?? 0}</b> {user.posts_count === 1 ? 'post' : 'posts'}
        </span>
        <a href={to('people', user.user_id, 'followers')}>
          <b>{user.followers_count ?? 0}</b> {user.followers_count === 1 ? 'follower' : 'followers'}
        </a>
        <a href={to('people', user.user_id, 'following')}>
          <b>{user.following_count ?? 0}</b> following
        </a>
      </p>
      {isMe ? (
        <div class="row">
          <a class="button" href={to('settings')}>
            Edit profile
          </a>
          <button type="button" class="button" onClick={logOut}>
            Log out
          </button>
        </div>
      ) : me ? (
        <Relation user={user} me={me.id} onChange={onChange} />
      ) : (
        <a class="button" href={to('login')}>
          Log in to follow
        </a>
      )}
    </section>
  );
}

export function PersonPage({ id, part }: { id: string; part: string | undefined }) {
  const me = useCell(session);
  const [user, setUser] = useState<User>();
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setError(undefined);
    api.getUser({ user_id: id }).then((found) => {
      setUser(found);
      if (session.value?.id === id) profile.value = found;
    }, setError);
  }, [id, turn, me?.id]);
  if (error !== undefined) return <Problem error={error} retry={() => setTurn((n) => n + 1)} />;
  if (!user) return <Loading />;
  return (
    <>
      <Head key={id} user={user} onChange={() => setTurn((n) => n + 1)} />
      {part === 'followers' || part === 'following' ? (
        <People key={part} id={id} part={part} />
      ) : (
        <Posts
          name={`Posts:${id}:${turn}`}
          make={() => sourceOf(api.listUserPosts({ user_id: id }))}
          takes={({ item }) => item.author_id === id}
          empty={<p>{user.posts_count && me?.id !== id ? 'No posts for you to see.' : 'No posts yet.'}</p>}
        />
      )}
    </>
  );
}

const other = (part: 'followers' | 'following', follow: Follow) =>
  part === 'followers'
    ? { id: follow.follower_id, name: follow.follower_username }
    : { id: follow.followed_id, name: follow.followed_username };

function People({ id, part }: { id: string; part: 'followers' | 'following' }) {
  const list = useLiveItems<Follow>(
    `${part} of ${id}`,
    () => sourceOf(part === 'followers' ? api.listFollowers({ user_id: id }) : api.listFollowing({ follower_id: id })),
    {
      id: (follow) => `${follow.follower_id} ${follow.followed_id}`,
      compare: (a, b) => (other(part, a).name ?? '').localeCompare(other(part, b).name ?? ''),
    },
  );
  return (
    <section class="card" aria-label={part}>
      <h2>{part === 'followers' ? 'Followers' : 'Following'}</h2>
      <Problem error={list.error} retry={list.reload} />
      {!list.loaded && list.error === undefined && <Loading />}
      {list.loaded && list.items.length === 0 && <p class="quiet">Nobody yet.</p>}
      <ul class="people">
        {list.items.map((follow) => {
          const { id: person, name } = other(part, follow);
          return (
            <li key={person}>
              <a class="person-line" href={to('people', person)}>
                <Avatar name={name ?? person} /> <span class="break">{name ?? person}</span>
              </a>
            </li>
          );
        })}
      </ul>
      <More list={list} />
    </section>
  );
}

/** A name of a text, such as @ann: leads to the person of that name. */
export function NamePage({ name }: { name: string }) {
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    setError(undefined);
    api.getUserByUsername({ username: name }).then(({ user_id }) => location.replace(to('people', user_id)), setError);
  }, [name]);
  return error === undefined ? <Loading /> : <Problem error={error} />;
}
