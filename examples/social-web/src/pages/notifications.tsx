// What happened: new posts of people one follows, requests to follow.
// SPDX-License-Identifier: Apache-2.0
import { type AnyItem, NotFoundError, type Notification } from '../generated/social';
import { type LiveItems, sourceOf, useLiveItems } from '../lib/lists';
import { to } from '../lib/router';
import { api, type Session } from '../lib/session';
import { Time } from '../lib/text';
import { say } from '../lib/toasts';
import { Avatar, Empty, Loading, More, Problem, useAction } from '../ui/controls';
import { textOf } from './settings';

function Requests({ me, notices }: { me: Session; notices: LiveItems<Notification> }) {
  const list = useLiveItems<AnyItem>('requests', () => sourceOf(api.listRequests({ user_id: me.id })), {
    id: (item) => textOf(item, 'follower_id'),
    compare: (a, b) => textOf(a, 'created_at').localeCompare(textOf(b, 'created_at')),
  });
  const { busy, error, act } = useAction();
  const answer = (item: AnyItem, isApproved: boolean) =>
    void act(async () => {
      const edge = { follower_id: textOf(item, 'follower_id'), followed_id: me.id };
      try {
        await (isApproved ? api.approveFollow(edge) : api.deleteFollow(edge));
        say(isApproved ? `${textOf(item, 'follower_username')} follows you now.` : 'The request is declined.');
      } catch (failed) {
        if (!(failed instanceof NotFoundError)) throw failed;
        say('This request was taken back.');
      }
      list.apply({ kind: 'removed', item });
      // The notice of a request that has its answer is no news any more.
      for (const notice of notices.items)
        if (notice.type === 'follow_request' && notice.actor_id === edge.follower_id) await markRead(notice, notices);
    });
  if (list.items.length === 0) return null;
  return (
    <section class="card" aria-label="Requests to follow you">
      <h2>Requests to follow you</h2>
      <Problem error={error} />
      <ul class="people">
        {list.items.map((item) => (
          <li key={textOf(item, 'follower_id')} class="person-line">
            <Avatar name={textOf(item, 'follower_username')} />
            <a class="break" href={to('people', textOf(item, 'follower_id'))}>
              {textOf(item, 'follower_username')}
            </a>
            <span class="row push">
              <button
                type="button"
                class="button button-primary"
                disabled={busy}
                onClick={() => answer(item, true)}
                aria-label={`Approve ${textOf(item, 'follower_username')}`}
              >
                Approve
              </button>
              <button
                type="button"
                class="button"
                disabled={busy}
                onClick={() => answer(item, false)}
                aria-label={`Decline ${textOf(item, 'follower_username')}`}
              >
                Decline
              </button>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const keyOf = ({ user_id, created_at, notification_id }: Notification) => ({ user_id, created_at, notification_id });

export async function markRead(item: Notification, list: LiveItems<Notification>): Promise<void> {
  if (item.is_read) return;
  list.apply({ kind: 'changed', item: { ...item, is_read: true } });
  try {
    await api.markReadNotification(keyOf(item));
  } catch (failed) {
    if (failed instanceof NotFoundError) return;
    list.apply({ kind: 'changed', item }); // unread, as before
  }
}

export function Notifications({ me, list }: { me: Session; list: LiveItems<Notification> }) {
  const { busy, error, act } = useAction();
  const unread = list.items.filter((item) => !item.is_read);
  return (
    <>
      <div class="row">
        <h1>Notifications</h1>
        {unread.length > 0 && (
          <button
            type="button"
            class="button push"
            disabled={busy}
            onClick={() =>
              void act(async () => {
                await api.markReadUnreadNotifications({ user_id: me.id });
                for (const item of unread) list.apply({ kind: 'changed', item: { ...item, is_read: true } });
              })
            }
          >
            Mark all as read
          </button>
        )}
      </div>
      <Problem error={error ?? list.error} />
      <Requests me={me} notices={list} />
      {!list.loaded && list.error === undefined && <Loading />}
      {list.loaded && list.items.length === 0 && (
        <Empty>
          <p>Nothing yet. Here you hear of posts by people you follow, and of requests to follow you.</p>
        </Empty>
      )}
      <ul class="notices">
        {list.items.map((item) => (
          <li key={`${item.created_at} ${item.notification_id}`}>
            <a
              class={`card notice ${item.is_read ? '' : 'notice-new'}`}
              href={item.type === 'new_post' ? to('posts', item.post_id ?? '') : to('people', item.actor_id ?? '')}
              onClick={() => void markRead(item, list)}
            >
              <Avatar name={item.actor_username ?? '?'} />
              <span class="break">
                <b>{item.actor_username}</b> {item.type === 'new_post' ? 'has posted' : 'asks to follow you'}
                <br />
                <span class="quiet">
                  <Time at={item.created_at} />
                  {!item.is_read && ' · new'}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      <More list={list} />
    </>
  );
}
