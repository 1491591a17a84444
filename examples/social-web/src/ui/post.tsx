// A post as a card.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { type Post } from '../generated/social';
import { tellOfPost } from '../lib/bus';
import { useCell } from '../lib/cell';
import { toggleLike, useLike } from '../lib/likes';
import { usePerson } from '../lib/people';
import { go, to } from '../lib/router';
import { api, session } from '../lib/session';
import { pictureUrl, Rich, Time } from '../lib/text';
import { say } from '../lib/toasts';
import { Avatar, Confirm } from './controls';
import { Icon } from './icons';

interface PictureProps {
  url: string;
  by: string;
  /** Another address of it: that of a file ends within an hour, and a page may be open for longer. */
  renew?: () => Promise<string | undefined>;
}

function Picture({ url, by, renew }: PictureProps) {
  const [shown, setShown] = useState(url);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    setShown(url);
    setBroken(false);
  }, [url]);
  const onError = async () => {
    const other = shown === url ? await renew?.().catch(() => undefined) : undefined; // asked once
    if (other && other !== shown) setShown(other);
    else setBroken(true);
  };
  if (broken)
    return (
      <p class="picture-broken">
        <Icon name="picture" /> This picture cannot be shown.
      </p>
    );
  return (
    <img
      class="picture"
      src={shown}
      alt={`Picture posted by ${by}`}
      loading="lazy"
      decoding="async"
      onError={() => void onError()}
    />
  );
}

function LikeButton({ post }: { post: Post }) {
  const { liked, count } = useLike(post);
  const me = useCell(session);
  return (
    <button
      type="button"
      class={`action ${liked ? 'action-on' : ''}`}
      aria-pressed={liked}
      aria-label={`Like, ${count} ${count === 1 ? 'person likes' : 'people like'} this`}
      onClick={() => (me ? void toggleLike(post.post_id) : go('login'))}
    >
      <Icon name="heart" filled={liked} />
      <span>{count}</span>
    </button>
  );
}

export function PostCard({ post, comments, whole }: { post: Post; comments?: number; whole?: boolean }) {
  const me = useCell(session);
  const [deleting, setDeleting] = useState(false);
  const username = post.author_username ?? 'unknown';
  const person = usePerson(post.author_id);
  const name = person.name || username;
  const author = to('people', post.author_id ?? '');
  const here = to('posts', post.post_id);
  const count = comments ?? post.comments_count ?? 0;
  const own = post.picture?.url;
  const pictures = (post.media_urls ?? []).map(pictureUrl).filter((url) => url !== undefined);
  return (
    <article class="card post" aria-label={`Post by ${name}`}>
      <header class="post-head">
        <a href={author} tabIndex={-1} aria-hidden="true">
          <Avatar name={name} url={person.image} />
        </a>
        <div class="post-who">
          <a class="name" href={author}>
            {name}
          </a>
          <span class="quiet">
            {name !== username && <span class="break">@{username} · </span>}
            <a class="plain" href={here}>
              <Time at={post.created_at} />
            </a>
            {post.visibility && post.visibility !== 'public' && (
              <>
                {' · '}
                {post.visibility === 'followers' ? 'followers only' : 'only you'}
              </>
            )}
          </span>
        </div>
        {me?.id === post.author_id && (
          <button type="button" class="icon-button" aria-label="Delete this post" onClick={() => setDeleting(true)}>
            <Icon name="trash" />
          </button>
        )}
      </header>
      <p class="words">
        <Rich text={post.content ?? ''} />
      </p>
      {own && (
        <Picture
          url={api.$transport.fileUrl(own)}
          by={name}
          renew={async () => {
            const { picture } = await api.getPost({ post_id: post.post_id });
            return picture?.url && api.$transport.fileUrl(picture.url);
          }}
        />
      )}
      {pictures.map((url) => (
        <Picture key={url} url={url} by={name} />
      ))}
      <footer class="actions">
        <LikeButton post={post} />
        <a class="action" href={here} aria-label={`Comments, ${count}`}>
          <Icon name="comment" />
          <span>{count}</span>
        </a>
      </footer>
      {deleting && (
        <Confirm
          title="Delete this post?"
          action="Delete"
          onClose={() => setDeleting(false)}
          run={async () => {
            await api.deletePost({ post_id: post.post_id });
            tellOfPost({ kind: 'removed', item: post });
            say('The post is deleted.');
            if (whole) go();
          }}
        >
          It disappears from all lists, for everyone. This cannot be undone.
        </Confirm>
      )}
    </article>
  );
}
