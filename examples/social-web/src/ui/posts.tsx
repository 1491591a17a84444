// A list of posts that stays up to date.
// SPDX-License-Identifier: Apache-2.0
import { type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Post } from '../generated/social';
import { type PostChange, usePostChanges } from '../lib/bus';
import { askOfPosts } from '../lib/likes';
import { newestFirst, type Order, type Source, useLiveItems } from '../lib/lists';
import { Empty, Loading, More, Problem } from './controls';
import { PostCard } from './post';

export const postOrder: Order<Post> = newestFirst((post) => post.post_id);
const NEAR_TOP = 240; // pixels: there, new posts appear at once; further down they would move what is being read

interface PostsProps {
  name: string;
  make: () => Source<Post>;
  empty: ComponentChildren;
  /** Of posts that are made on this page. */
  takes?: (change: PostChange) => boolean;
  order?: Order<Post>;
}

export function Posts({ name, make, empty, takes, order = postOrder }: PostsProps) {
  const list = useLiveItems(name, make, order);
  const noted = useRef(new Map<string, number>());
  const [held, setHeld] = useState<Set<string>>(new Set());
  const seen = useRef<Set<string>>();

  usePostChanges((change) => {
    if (takes?.(change) || change.kind === 'removed') {
      seen.current?.add(change.item.post_id); // one's own post is never held back
      list.apply(change);
    }
  });

  useEffect(() => {
    const changed = list.items.filter((post) => noted.current.get(post.post_id) !== (post.likes_count ?? 0));
    for (const post of changed) noted.current.set(post.post_id, post.likes_count ?? 0);
    const news = changed.filter((post) => !('liked' in post));
    if (news.length) void askOfPosts(news).catch(() => undefined); // hearts stay empty; the list is readable
  }, [list.items]);

  // What arrives above a reader who is further down waits for a click.
  useEffect(() => {
    if (!list.loaded) return;
    const before = seen.current;
    const top = list.items.findIndex((post) => before?.has(post.post_id));
    const above = before ? list.items.slice(0, Math.max(top, 0)).map((post) => post.post_id) : [];
    const news = above.filter((id) => !before?.has(id));
    if (news.length && scrollY > NEAR_TOP) setHeld((now) => new Set([...now, ...news]));
    seen.current = new Set([...(before ?? []), ...list.items.map((post) => post.post_id)]);
  }, [list.items, list.loaded]);

  const shown = list.items.filter((post) => !held.has(post.post_id));
  const waiting = list.items.length - shown.length;
  return (
    <section class="posts" aria-label={name.split(':')[0]} aria-busy={!list.loaded}>
      {waiting > 0 && (
        <button
          type="button"
          class="button button-primary news"
          onClick={() => {
            setHeld(new Set());
            scrollTo({ top: 0 });
          }}
        >
          {waiting === 1 ? '1 new post' : `${waiting} new posts`}
        </button>
      )}
      <Problem error={list.error} retry={list.reload} />
      {!list.loaded && list.error === undefined && <Loading />}
      {list.loaded && shown.length === 0 && <Empty>{empty}</Empty>}
      {shown.map((post) => (
        <PostCard key={post.post_id} post={post} />
      ))}
      <More list={list} />
    </section>
  );
}
