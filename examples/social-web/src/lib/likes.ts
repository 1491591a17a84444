// Likes: shown at once, sent one after the other, and taken back when the server refuses.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { AlreadyExistsError, NotFoundError, type Post } from '../generated/social';
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

/** Notes posts that were just read, and asks which of them the person likes. */
export async function noteLikes(posts: Post[]): Promise<void> {
  const asker = session.value?.id;
  for (const post of posts) {
    const known = likes.get(post.post_id);
    const count = post.likes_count ?? 0;
    if (!known) likes.set(post.post_id, { saved: false, wanted: false, count, sending: false });
    else if (!known.sending) known.count = count;
  }
  tell();
  if (!asker || posts.length === 0) return;
  const ids = posts.map(({ post_id }) => post_id);
  const mine = new Set<string>();
  for (let i = 0; i < ids.length; i += 50) {
    const { items } = await api.listLiked({ id: ids.slice(i, i + 50) });
    for (const { post_id } of items) mine.add(post_id);
  }
  if (session.value?.id !== asker) return;
  for (const id of ids) {
    const known = likes.get(id);
    if (known && !known.sending) known.saved = known.wanted = mine.has(id);
  }
  tell();
}

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
