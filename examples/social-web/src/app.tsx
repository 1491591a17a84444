// The frame: navigation, the page of the address, messages.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import { type Notification } from './generated/social';
import { useCell } from './lib/cell';
import { type LiveItems, newestFirst, sourceOf, useLiveItems } from './lib/lists';
import { to, usePlace } from './lib/router';
import { api, loadProfile, online, profile, session } from './lib/session';
import { dismiss, toasts } from './lib/toasts';
import { LogIn, LostPassword, NewPassword, Reentry, SignUp } from './pages/entry';
import { Discover, Home, Tag } from './pages/lists';
import { Notifications } from './pages/notifications';
import { NamePage, PersonPage } from './pages/person';
import { PostPage } from './pages/post';
import { Settings } from './pages/settings';
import { Icon } from './ui/icons';

const noticeOrder = newestFirst<Notification>((item) => item.notification_id);

function Page({ place, notices }: { place: string[]; notices: LiveItems<Notification> }) {
  const me = useCell(session);
  const [page, id] = place;
  if (page === 'signup') return <SignUp />;
  if (page === 'login') return <LogIn />;
  if (page === 'lost-password') return <LostPassword />;
  if (page === 'password' && id) return <NewPassword token={id} />;
  if (page === 'discover') return <Discover />;
  if (page === 'tags' && id) return <Tag key={id} tag={id} />;
  if (page === 'posts' && id) return <PostPage key={id} id={id} />;
  if (page === 'people' && id) return <PersonPage key={id} id={id} part={place[2]} />;
  if (page === 'names' && id) return <NamePage key={id} name={id} />;
  if ((page === 'notifications' || page === 'settings') && !me) return <LogIn />;
  if (page === 'notifications' && me) return <Notifications me={me} list={notices} />;
  if (page === 'settings' && me) return <Settings me={me} />;
  return <Home />;
}

interface NavProps {
  place: string[];
  unread: number;
}

function Nav({ place, unread }: NavProps) {
  const me = useCell(session);
  const at = place[0] ?? '';
  const current = (name: string) => (at === name ? ({ 'aria-current': 'page' } as const) : {});
  return (
    <nav class="nav" aria-label="Pages">
      <a class="brand" href="#/">
        Village
      </a>
      <a href="#/" {...current('')}>
        <Icon name="home" />
        <span>Home</span>
      </a>
      <a href={to('discover')} {...current('discover')}>
        <Icon name="discover" />
        <span>Discover</span>
      </a>
      {me ? (
        <>
          <a
            href={to('notifications')}
            aria-label={unread ? `Notifications, ${unread} new` : 'Notifications'}
            {...current('notifications')}
          >
            <Icon name="bell" />
            <span>Notices</span>
            {unread > 0 && <b class="bubble">{unread > 99 ? '99+' : unread}</b>}
          </a>
          <a
            href={to('people', me.id)}
            aria-label="Your profile"
            {...(at === 'people' && place[1] === me.id && { 'aria-current': 'page' as const })}
          >
            <Icon name="person" />
            <span>You</span>
          </a>
        </>
      ) : (
        <a href={to('login')} {...current('login')}>
          <Icon name="person" />
          <span>Log in</span>
        </a>
      )}
    </nav>
  );
}

function Messages() {
  const list = useCell(toasts);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map(({ id, text, kind }) => (
        <p key={id} class={`toast toast-${kind}`}>
          <span>{text}</span>
          <button type="button" class="icon-button" aria-label="Close this message" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </p>
      ))}
    </div>
  );
}

export function App() {
  const place = usePlace();
  const me = useCell(session);
  const isOnline = useCell(online);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const notices = useLiveItems(
    me && `notifications of ${me.id}`,
    () => sourceOf(api.listNotifications({ user_id: me!.id })),
    noticeOrder,
  );
  const address = place.join('/');

  useEffect(() => {
    if (me && !profile.value) void loadProfile().catch(() => undefined); // pages say what is wrong themselves
  }, [me?.id]);

  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true }); // for screen readers: another page has come
  }, [address]);

  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <Nav place={place} unread={notices.items.filter((item) => !item.is_read).length} />
      {!isOnline && (
        <p class="offline" role="status">
          No connection to the server. Trying again…
        </p>
      )}
      <main id="main" ref={main} tabIndex={-1}>
        <Page place={place} notices={notices} />
      </main>
      <Messages />
      <Reentry />
    </>
  );
}
