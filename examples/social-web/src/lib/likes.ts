// Posts as one reader sees them: their likes are shown at once, sent one after the other, and taken back when the server refuses.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { AlreadyExistsError, type ListOf, type LiveListOf, NotFoundError, type Post } from '../generated/social';
import { type Source } from './lists';
import { notePerson } from './people';
import { api, session } from './session';
import { sentenceOf } from './errors';
import { say } from './toasts';

interface Like {
  /** What the server has, as far as known. */
  saved: boolean;
  /** What the person wants. */
  wanted: boolean;
  /** Of the post, with `saved` in it. */
  count: number;
  sending: boolean;
}

const likes = new Map<string, Like>();
const listeners = new Set<() => void>();
const tell = () => listeners.forEach((listener) => listener());

session.listen(() => {
  likes.clear();
  tell();
});

/** A post as lists show it to one reader. */
export type SeenPost = Post & { author_name?: string; author_image?: string; liked?: boolean };

function note(post: SeenPost): void {
  const known = likes.get(post.post_id);
  const count = post.likes_count ?? 0;
  if (!known) {
    const liked = post.liked ?? false;
    likes.set(post.post_id, { saved: liked, wanted: liked, count, sending: false });
  } else if (!known.sending) {
    known.count = count;
    if (post.liked !== undefined) known.saved = known.wanted = post.liked;
  }
}

/** Posts of a list that says who wrote them, and whether the reader likes them. */
export function notePosts(posts: SeenPost[]): void {
  for (const post of posts) {
    note(post);
    notePerson(post.author_id, { name: post.author_name, image: post.author_image });
  }
  tell();
}

/** Posts that came without: events of a watched list, and what the reader has just written. */
export async function askOfPosts(posts: Post[]): Promise<void> {
  const asker = session.value?.id;
  for (const post of posts) note(post);
  tell();
  const ids = posts.map(({ post_id }) => post_id);
  for (let i = 0; i < ids.length; i += 50) {
    const { items } = await api.listPostsWithAuthors({ id: ids.slice(i, i + 50) });
    if (session.value?.id !== asker) return;
    notePosts(items);
  }
}

/** A list as one reader sees it, page by page; `live` is the same list, which can be watched. */
export const seenPosts = (list: ListOf<SeenPost>, live?: LiveListOf<Post>): Source<Post> => ({
  page: async (after) => {
    const page = await list.page(after);
    notePosts(page.items);
    return page;
  },
  ...(live && { watch: (options: { signal: AbortSignal }) => live.watch(options) }),
});

/** False: it was so already, from another tab or before this page knew. */
async function put(post: string, user: string, wanted: boolean): Promise<boolean> {
  try {
    if (wanted) await api.putLike({ post_id: post, user_id: user });
    else await api.deleteLike({ post_id: post, user_id: user });
    return true;
  } catch (error) {
    if (wanted && error instanceof AlreadyExistsError) return false;
    if (!wanted && error instanceof NotFoundError) return false;
    throw error;
  }
}

export async function toggleLike(post: string): Promise<void> {
  const user = session.value?.id;
  const like = likes.get(post);
  if (!user || !like) return;
  like.wanted = !like.wanted;
  tell();
  if (like.sending) return; // the loop below sees it
  like.sending = true;
  try {
    while (like.wanted !== like.saved) {
      const { wanted } = like;
      if (await put(post, user, wanted)) like.count += wanted ? 1 : -1;
      like.saved = wanted;
    }
  } catch (error) {
    like.wanted = like.saved;
    say(sentenceOf(error), 'wrong');
  } finally {
    like.sending = false;
    tell();
  }
}

/** The like of a post as the page shows it. */
export function useLike(post: Post): { liked: boolean; count: number } {
  const [, draw] = useState(0);
  useEffect(() => {
    const again = () => draw((n) => n + 1);
    listeners.add(again);
    return () => void listeners.delete(again);
  }, []);
  const like = likes.get(post.post_id);
  if (!like) return { liked: false, count: post.likes_count ?? 0 };
  return { liked: like.wanted, count: Math.max(0, like.count + Number(like.wanted) - Number(like.saved)) };
}
