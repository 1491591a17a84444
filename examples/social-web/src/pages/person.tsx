// A person: profile, following and blocking, posts, followers.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { type Follow, NotFoundError } from '../generated/social';
import { useCell } from '../lib/cell';
import { seenPosts } from '../lib/likes';
import { type Source, useLiveItems } from '../lib/lists';
import { notePerson, usePerson } from '../lib/people';
import { to } from '../lib/router';
import { api, logOut, profile, session } from '../lib/session';
import { Rich } from '../lib/text';
import { say } from '../lib/toasts';
import { Avatar, Confirm, Loading, More, Problem, useAction } from '../ui/controls';
import { Icon } from '../ui/icons';
import { Posts } from '../ui/posts';

/** A profile, and how the reader and this person stand to each other. */
type Profile = Awaited<ReturnType<typeof api.getUserWithRelation>>;

interface RelationProps {
  user: Profile;
  me: string;
  /** Reads the profile again. */
  reload: () => Promise<void>;
}

function Relation({ user, me, reload }: RelationProps) {
  const [blocking, setBlocking] = useState(false);
  const { busy, error, act } = useAction();
  const edge = { follower_id: me, followed_id: user.user_id };
  const name = user.username ?? '';
  const change = (run: () => Promise<unknown>) =>
    void act(async () => {
      try {
        await run();
      } finally {
        await reload(); // whatever happened: this is how it is now
      }
    });
  const mine = user.my_follow;
  const blocked = user.their_follow === 'blocked';
  const unfollow = () => change(() => api.deleteFollow(edge));
  const unblock = () => change(() => api.deleteFollow({ follower_id: user.user_id, followed_id: me }));
  return (
    <div class="stack">
      <div class="row">
        {blocked ? (
          <button type="button" class="button" disabled={busy} onClick={unblock}>
            Unblock
          </button>
        ) : mine === 'active' || mine === 'muted' ? (
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
            await reload();
            say(`${name} is blocked.`);
          }}
        >
          You no longer follow each other, and neither of you sees the posts of the other.
        </Confirm>
      )}
    </div>
  );
}

function Head({ user, reload }: { user: Profile; reload: () => Promise<void> }) {
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
          <button type="button" class="button" onClick={() => void logOut()}>
            Log out
          </button>
        </div>
      ) : me ? (
        <Relation user={user} me={me.id} reload={reload} />
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
  const [user, setUser] = useState<Profile>();
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  const load = async () => {
    setError(undefined);
    const found = await api.getUserWithRelation({ user_id: id });
    setUser(found);
    notePerson(id, { name: found.display_name, image: found.profile_image_url });
    if (session.value?.id === id) profile.value = found;
  };
  const reload = async () => {
    await load();
    setTurn((n) => n + 1); // what one sees of a person depends on the relation, too
  };
  useEffect(() => void load().catch(setError), [id, me?.id]);
  if (error !== undefined) return <Problem error={error} retry={() => void load().catch(setError)} />;
  if (!user) return <Loading />;
  return (
    <>
      <Head key={id} user={user} reload={reload} />
      {part === 'followers' || part === 'following' ? (
        <People key={part} id={id} part={part} />
      ) : (
        <Posts
          name={`Posts:${id}:${turn}`}
          make={() => seenPosts(api.listUserPostsWithAuthors({ user_id: id }), api.listUserPosts({ user_id: id }))}
          takes={({ item }) => item.author_id === id}
          empty={<p>{user.posts_count && me?.id !== id ? 'No posts for you to see.' : 'No posts yet.'}</p>}
        />
      )}
    </>
  );
}

/** Pages have the names that people show today; events have user names. */
function peopleOf(part: 'followers' | 'following', user_id: string): Source<Follow> {
  const shown =
    part === 'followers' ? api.listFollowersWithNames({ user_id }) : api.listFollowingWithNames({ user_id });
  const live = part === 'followers' ? api.listFollowers({ user_id }) : api.listFollowing({ follower_id: user_id });
  return {
    page: async (after) => {
      const page = await shown.page(after);
      for (const follow of page.items) notePerson(other(part, follow).id, { name: follow.name, image: follow.image });
      return page;
    },
    watch: (options) => live.watch(options),
  };
}

function PersonLine({ id, username }: { id: string; username: string }) {
  const { name, image } = usePerson(id, true);
  return (
    <a class="person-line" href={to('people', id)}>
      <Avatar name={name || username} url={image} />
      <span class="break">
        {name || username} {name && <span class="quiet">@{username}</span>}
      </span>
    </a>
  );
}

const other = (part: 'followers' | 'following', follow: Follow) =>
  part === 'followers'
    ? { id: follow.follower_id, name: follow.follower_username }
    : { id: follow.followed_id, name: follow.followed_username };

function People({ id, part }: { id: string; part: 'followers' | 'following' }) {
  const list = useLiveItems<Follow>(`${part} of ${id}`, () => peopleOf(part, id), {
    id: (follow) => `${follow.follower_id} ${follow.followed_id}`,
    compare: (a, b) => (other(part, a).name ?? '').localeCompare(other(part, b).name ?? ''),
  });
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
              <PersonLine id={person} username={name ?? person} />
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
  if (error instanceof NotFoundError)
    return (
      <p class="problem" role="alert">
        There is nobody of the name @{name}.
      </p>
    );
  return error === undefined ? <Loading /> : <Problem error={error} />;
}
