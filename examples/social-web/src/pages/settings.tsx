// One's own profile, and the people who are blocked.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { type AnyItem, type User } from '../generated/social';
import { fieldErrors } from '../lib/errors';
import { sourceOf, useLiveItems } from '../lib/lists';
import { notePerson } from '../lib/people';
import { go, to } from '../lib/router';
import { api, changePassword, logOut, logOutEverywhere, profile, type Session } from '../lib/session';
import { say } from '../lib/toasts';
import { Confirm, Field, Loading, Problem, useAction } from '../ui/controls';

export const textOf = (item: AnyItem, name: string): string => {
  const value = item[name];
  return typeof value === 'string' ? value : '';
};

function ProfileForm({ user }: { user: User }) {
  const [name, setName] = useState(user.display_name ?? '');
  const [bio, setBio] = useState(user.bio ?? '');
  const [picture, setPicture] = useState(user.profile_image_url ?? '');
  const [isPrivate, setPrivate] = useState(user.is_private ?? false);
  const { busy, error, act } = useAction();
  const save = async () => {
    const saved = await api.updateUser(
      { user_id: user.user_id },
      {
        display_name: name.trim() || null,
        bio: bio.trim() || null,
        profile_image_url: picture.trim() || null,
        is_private: isPrivate,
      },
    );
    if (saved) {
      profile.value = saved;
      notePerson(saved.user_id, { name: saved.display_name, image: saved.profile_image_url });
    }
    say('Your profile is saved.');
    go('people', user.user_id);
  };
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void act(save);
      }}
    >
      <h1>Your profile</h1>
      <Field label="Name" name="display_name" value={name} onValue={setName} error={error} maxLength={60} />
      <Field label="About you" name="bio" rows={3} value={bio} onValue={setBio} error={error} maxLength={280} />
      <Field
        label="Address of your picture"
        name="profile_image_url"
        value={picture}
        onValue={setPicture}
        error={error}
        hint="It begins with https://"
        input={{ type: 'url', inputMode: 'url', placeholder: 'https://…' }}
      />
      <label class="check">
        <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.currentTarget.checked)} />
        Private account: I approve who follows me
      </label>
      {error !== undefined && Object.keys(fieldErrors(error)).length === 0 && <Problem error={error} />}
      <button type="submit" class="button button-primary" disabled={busy}>
        {busy ? 'Saving…' : 'Save'}
      </button>
    </form>
  );
}

function Blocked({ me }: { me: Session }) {
  const list = useLiveItems<AnyItem>('blocks', () => sourceOf(api.listBlocks({ user_id: me.id })), {
    id: (item) => textOf(item, 'follower_id'),
    compare: (a, b) => textOf(a, 'follower_username').localeCompare(textOf(b, 'follower_username')),
  });
  const { busy, error, act } = useAction();
  return (
    <section class="card" aria-label="Blocked people">
      <h2>Blocked people</h2>
      <Problem error={error ?? list.error} />
      {list.loaded && list.items.length === 0 && <p class="quiet">You have blocked nobody.</p>}
      <ul class="people">
        {list.items.map((item) => (
          <li key={textOf(item, 'follower_id')} class="person-line">
            <a class="break" href={to('people', textOf(item, 'follower_id'))}>
              {textOf(item, 'follower_username')}
            </a>
            <button
              type="button"
              class="button push"
              disabled={busy}
              onClick={() =>
                void act(async () => {
                  await api.deleteFollow({ follower_id: textOf(item, 'follower_id'), followed_id: me.id });
                  list.apply({ kind: 'removed', item });
                })
              }
            >
              Unblock
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Security() {
  const [before, setBefore] = useState('');
  const [password, setPassword] = useState('');
  const [leaving, setLeaving] = useState(false);
  const { busy, error, act } = useAction();
  return (
    <section class="card stack" aria-label="Security">
      <h2>Security</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void act(() => changePassword(before, password)).then((done) => {
            if (!done) return;
            setBefore('');
            setPassword('');
            say('Your password is changed. Other devices are logged out.');
          });
        }}
      >
        <Field
          label="Password now"
          name="current_password"
          value={before}
          onValue={setBefore}
          error={error}
          input={{ type: 'password', autoComplete: 'current-password', required: true }}
        />
        <Field
          label="New password"
          name="password"
          value={password}
          onValue={setPassword}
          error={error}
          hint="At least 8 characters."
          input={{ type: 'password', autoComplete: 'new-password', required: true }}
        />
        {error !== undefined && Object.keys(fieldErrors(error)).length === 0 && <Problem error={error} />}
        <button type="submit" class="button" disabled={busy}>
          Change the password
        </button>
      </form>
      <p class="quiet">You stay logged in on this device until you log out, or do not come for thirty days.</p>
      <div class="row">
        <button type="button" class="button" onClick={() => void logOut()}>
          Log out
        </button>
        <button type="button" class="button" onClick={() => setLeaving(true)}>
          Log out everywhere
        </button>
      </div>
      {leaving && (
        <Confirm
          title="Log out everywhere?"
          action="Log out everywhere"
          onClose={() => setLeaving(false)}
          run={logOutEverywhere}
        >
          All devices that are logged in as you are logged out, and this one, too.
        </Confirm>
      )}
    </section>
  );
}

export function Settings({ me }: { me: Session }) {
  const [user, setUser] = useState<User>();
  const [error, setError] = useState<unknown>();
  useEffect(() => void api.getUser({ user_id: me.id }).then(setUser, setError), [me.id]);
  return (
    <>
      <Problem error={error} />
      {user ? <ProfileForm user={user} /> : error === undefined && <Loading />}
      <Blocked me={me} />
      <Security />
    </>
  );
}
