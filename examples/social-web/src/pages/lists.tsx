// Home, Discover, and the posts of a hashtag.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { NotFoundError, type Post } from '../generated/social';
import { useCell } from '../lib/cell';
import { seenPosts } from '../lib/likes';
import { merged, type Order, type Source } from '../lib/lists';
import { go, to } from '../lib/router';
import { api, session } from '../lib/session';
import { Compose } from '../ui/compose';
import { Field, Problem, useAction } from '../ui/controls';
import { postOrder, Posts } from '../ui/posts';
import { Welcome } from './entry';

const PAGE = 20;

/** What the feed has and what the person wrote, newest first; new posts of the feed arrive by themselves. */
function home(user_id: string): Source<Post> {
  return {
    page: merged(
      [seenPosts(api.listHome({ user_id })), seenPosts(api.listUserPostsWithAuthors({ user_id }))],
      postOrder,
      PAGE,
    ),
    watch: (options) => api.listFeedPosts({ user_id }).watch(options),
  };
}

export function Home() {
  const me = useCell(session);
  if (!me) return <Welcome />;
  return (
    <>
      <h1 class="visually-hidden">Home</h1>
      <Compose />
      <Posts
        name={`Home:${me.id}`}
        make={() => home(me.id)}
        takes={() => true}
        empty={
          <>
            <p>Nothing here yet.</p>
            <p>
              Write the first post, or <a href={to('discover')}>find people to follow</a>.
            </p>
          </>
        }
      />
    </>
  );
}

const byScore: Order<Post> = {
  id: postOrder.id,
  compare: (a, b) => (b.engagement_score ?? 0) - (a.engagement_score ?? 0) || postOrder.compare(a, b),
};

function FindPerson() {
  const [name, setName] = useState('');
  const { busy, error, act } = useAction();
  return (
    <form
      class="card find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = name.trim().replace(/^@/, '');
        if (wanted) void act(async () => go('people', (await api.getUserByUsername({ username: wanted })).user_id));
      }}
    >
      <Field
        label="Find a person by user name"
        name="find"
        value={name}
        onValue={setName}
        input={{ type: 'search', autoCapitalize: 'none', autoComplete: 'off' }}
      />
      <button type="submit" class="button" disabled={busy}>
        Find
      </button>
      {error instanceof NotFoundError ? (
        <p class="field-wrong" role="alert">
          There is nobody of this name.
        </p>
      ) : (
        <Problem error={error} />
      )}
    </form>
  );
}

export function Discover() {
  const [tab, setTab] = useState<'popular' | 'new'>('popular');
  const today = new Date().toISOString().slice(0, 10);
  return (
    <>
      <h1>Discover</h1>
      <FindPerson />
      <div class="tabs" role="group" aria-label="Which posts">
        <button type="button" aria-pressed={tab === 'popular'} onClick={() => setTab('popular')}>
          Popular
        </button>
        <button type="button" aria-pressed={tab === 'new'} onClick={() => setTab('new')}>
          New
        </button>
      </div>
      {tab === 'popular' ? (
        <Posts
          key="popular"
          name="Popular"
          order={byScore}
          make={() => seenPosts(api.listPopularPostsWithAuthors(), api.listPopularPosts())}
          empty={<p>No posts this week yet.</p>}
        />
      ) : (
        <Posts
          key="new"
          name="New"
          make={() => seenPosts(api.listTimelineWithAuthors({ date: today }), api.listTimeline({ date: today }))}
          empty={<p>No posts this week yet.</p>}
        />
      )}
    </>
  );
}

export function Tag({ tag }: { tag: string }) {
  return (
    <>
      <h1 class="break">#{tag}</h1>
      <Posts
        name={`Tag:${tag}`}
        make={() => seenPosts(api.listPostsByHashtagWithAuthors({ tag }), api.listPostsByHashtag({ tag }))}
        empty={<p>No posts with this hashtag.</p>}
      />
    </>
  );
}
