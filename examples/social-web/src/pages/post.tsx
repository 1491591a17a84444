// One post with its comments.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Comment, type Post } from '../generated/social';
import { useCell } from '../lib/cell';
import { notePosts } from '../lib/likes';
import { type LiveItems, oldestFirst, type Source, useLiveItems } from '../lib/lists';
import { notePerson, usePerson } from '../lib/people';
import { to } from '../lib/router';
import { api, session } from '../lib/session';
import { Rich, Time } from '../lib/text';
import { Avatar, Confirm, Field, Loading, More, Problem, useAction, useWriteKey } from '../ui/controls';
import { PostCard } from '../ui/post';

/** Pages say how those who wrote are called; an event does not, so people new to the page are asked for. */
function commentsOf(post_id: string): Source<Comment> {
  return {
    page: async (after) => {
      const page = await api.listCommentsOfPostWithAuthors({ post_id }).page(after);
      for (const comment of page.items)
        notePerson(comment.user_id, { name: comment.author_name, image: comment.author_image });
      return page;
    },
    watch: (options) => api.listCommentsOfPost({ post_id }).watch(options),
  };
}

const order = oldestFirst<Comment>((comment) => comment.comment_id);

interface WriteProps {
  post: string;
  parent?: Comment;
  onDone: (comment: Comment) => void;
}

function WriteComment({ post, parent, onDone }: WriteProps) {
  const [content, setContent] = useState('');
  const [count, setCount] = useState(0);
  const key = useWriteKey(content, count);
  const { busy, error, act } = useAction();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (parent) form.current?.querySelector('textarea')?.focus(); // it was asked for
  }, []);
  const send = async () => {
    const comment = await api.createComment(
      { post_id: post },
      { content: content.trim(), ...(parent && { parent_comment_id: parent.comment_id }) },
      key,
    );
    setCount(count + 1);
    setContent('');
    onDone(comment);
  };
  return (
    <form
      class="write"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (content.trim()) void act(send);
      }}
    >
      <Field
        label={parent ? `Reply to ${parent.username ?? ''}` : 'Write a comment'}
        name="content"
        rows={2}
        value={content}
        onValue={setContent}
        error={error}
        maxLength={2000}
      />
      <Problem error={error} />
      <button type="submit" class="button button-primary" disabled={busy || !content.trim()}>
        {parent ? 'Reply' : 'Comment'}
      </button>
    </form>
  );
}

interface OneProps {
  comment: Comment;
  post: Post;
  list: LiveItems<Comment>;
  replies: Map<string, Comment[]>;
  depth: number;
}

const DEEPEST = 3; // further replies are not moved in: a phone is narrow

function OneComment({ comment, post, list, replies, depth }: OneProps) {
  const me = useCell(session);
  const [replying, setReplying] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const person = usePerson(comment.user_id, true);
  const name = person.name || (comment.username ?? 'unknown');
  const below = replies.get(comment.comment_id) ?? [];
  const mayDelete = me && !comment.is_deleted && (me.id === comment.user_id || me.id === post.author_id);
  return (
    <li>
      <article class="comment" aria-label={`Comment by ${name}`}>
        <Avatar name={name} url={person.image} />
        <div class="comment-body">
          <p class="comment-head">
            <a class="name" href={to('people', comment.user_id ?? '')}>
              {name}
            </a>{' '}
            <span class="quiet">
              <Time at={comment.created_at} />
            </span>
          </p>
          {comment.is_deleted ? (
            <p class="quiet">This comment was deleted.</p>
          ) : (
            <p class="words">
              <Rich text={comment.content ?? ''} />
            </p>
          )}
          {me && !comment.is_deleted && (
            <div class="row">
              <button type="button" class="link" aria-expanded={replying} onClick={() => setReplying(!replying)}>
                Reply
              </button>
              {mayDelete && (
                <button type="button" class="link" onClick={() => setDeleting(true)}>
                  Delete
                </button>
              )}
            </div>
          )}
          {replying && (
            <WriteComment
              post={post.post_id}
              parent={comment}
              onDone={(item) => {
                setReplying(false);
                list.apply({ kind: 'added', item });
              }}
            />
          )}
        </div>
      </article>
      {below.length > 0 && (
        <ul class={`comments ${depth < DEEPEST ? 'comments-in' : ''}`}>
          {below.map((reply) => (
            <OneComment key={reply.comment_id} comment={reply} {...{ post, list, replies }} depth={depth + 1} />
          ))}
        </ul>
      )}
      {deleting && (
        <Confirm
          title="Delete this comment?"
          action="Delete"
          onClose={() => setDeleting(false)}
          run={async () => {
            await api.deleteComment({ post_id: post.post_id, comment_id: comment.comment_id });
            list.apply({ kind: 'changed', item: { ...comment, content: '', is_deleted: true } });
          }}
        >
          Its text is removed; replies stay.
        </Confirm>
      )}
    </li>
  );
}

function Comments({ post, list }: { post: Post; list: LiveItems<Comment> }) {
  const me = useCell(session);
  const replies = new Map<string, Comment[]>();
  const known = new Set(list.items.map(({ comment_id }) => comment_id));
  const roots = list.items.filter((comment) => {
    const parent = comment.parent_comment_id;
    if (!parent || !known.has(parent)) return true;
    replies.set(parent, [...(replies.get(parent) ?? []), comment]);
    return false;
  });
  return (
    <section class="card" aria-label="Comments">
      <h2>Comments</h2>
      <Problem error={list.error} retry={list.reload} />
      {!list.loaded && list.error === undefined && <Loading />}
      {list.loaded && roots.length === 0 && <p class="quiet">No comments yet.</p>}
      <ul class="comments">
        {roots.map((comment) => (
          <OneComment key={comment.comment_id} {...{ comment, post, list, replies }} depth={0} />
        ))}
      </ul>
      <More list={list} />
      {me ? (
        <WriteComment post={post.post_id} onDone={(item) => list.apply({ kind: 'added', item })} />
      ) : (
        <p>
          <a href={to('login')}>Log in</a> to comment.
        </p>
      )}
    </section>
  );
}

export function PostPage({ id }: { id: string }) {
  const [post, setPost] = useState<Post>();
  const [error, setError] = useState<unknown>();
  const list = useLiveItems(`comments of ${id}`, () => commentsOf(id), order);
  const load = () => {
    setError(undefined);
    api.getPostWithAuthor({ post_id: id }).then((found) => {
      notePosts([found]);
      setPost(found);
    }, setError);
  };
  useEffect(load, [id]);
  if (error !== undefined) return <Problem error={error} retry={load} />;
  if (!post) return <Loading />;
  const there = list.items.filter((comment) => !comment.is_deleted).length;
  return (
    <>
      <h1 class="visually-hidden">Post by {post.author_username}</h1>
      <PostCard post={post} whole {...(list.loaded && !list.hasMore && { comments: there })} />
      <Comments post={post} list={list} />
    </>
  );
}
