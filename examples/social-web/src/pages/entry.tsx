// Signing up, logging in, and the password once more when a token has ended.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { UnauthenticatedError } from '../generated/social';
import { useCell } from '../lib/cell';
import { go, to } from '../lib/router';
import { api, logIn, logInAgain, logOut, reentry, session } from '../lib/session';
import { say } from '../lib/toasts';
import { Dialog, Field, Problem, useAction } from '../ui/controls';
import { fieldErrors } from '../lib/errors';

/** A wrong password is told so; the other refusals have their own sentences. */
function LoginProblem({ error }: { error: unknown }) {
  if (error instanceof UnauthenticatedError)
    return (
      <div class="problem" role="alert">
        <p>The name or the password is wrong.</p>
      </div>
    );
  return <Problem error={error} />;
}

export function Welcome() {
  return (
    <div class="card welcome">
      <h1>Village</h1>
      <p>Follow people, read what is new, tell what you are up to.</p>
      <div class="row">
        <a class="button button-primary" href={to('signup')}>
          Sign up
        </a>
        <a class="button" href={to('login')}>
          Log in
        </a>
        <a class="button button-plain" href={to('discover')}>
          Look around
        </a>
      </div>
    </div>
  );
}

export function LogIn() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const { busy, error, act } = useAction();
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void act(() => logIn(name, password)).then((done) => done && go());
      }}
    >
      <h1>Log in</h1>
      <Field
        label="User name or e-mail address"
        name="name"
        value={name}
        onValue={setName}
        input={{ autoComplete: 'username', autoCapitalize: 'none', required: true }}
      />
      <Field
        label="Password"
        name="password"
        value={password}
        onValue={setPassword}
        input={{ type: 'password', autoComplete: 'current-password', required: true }}
      />
      <LoginProblem error={error} />
      <button type="submit" class="button button-primary" disabled={busy}>
        {busy ? 'Logging in…' : 'Log in'}
      </button>
      <p class="quiet">
        New here? <a href={to('signup')}>Sign up</a> · <a href={to('lost-password')}>I have lost my password</a>
      </p>
    </form>
  );
}

/** Asks for a mail with a link to NewPassword. The answer is the same whether or not there is such an account. */
export function LostPassword() {
  const [name, setName] = useState('');
  const [sent, setSent] = useState(false);
  const { busy, error, act } = useAction();
  if (sent)
    return (
      <div class="card form">
        <h1>Look into your mail</h1>
        <p role="status">
          If there is an account <b class="break">{name.trim()}</b>, a link to set a new password is on its way to its
          e-mail address. It is good for an hour.
        </p>
        <a class="button" href={to('login')}>
          Back to the login
        </a>
      </div>
    );
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void act(() => api.sendReset({ name: name.trim() })).then(setSent);
      }}
    >
      <h1>Lost password</h1>
      <Field
        label="User name or e-mail address"
        name="name"
        value={name}
        onValue={setName}
        hint="We send a link to your e-mail address."
        input={{ autoComplete: 'username', autoCapitalize: 'none', required: true }}
      />
      <Problem error={error} />
      <button type="submit" class="button button-primary" disabled={busy}>
        Send the link
      </button>
    </form>
  );
}

/** Where the link of the mail leads. */
export function NewPassword({ token }: { token: string }) {
  const [password, setPassword] = useState('');
  const { busy, error, act } = useAction();
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void act(() => api.resetPassword({ token, password })).then((done) => {
          if (!done) return;
          say('Your password is changed. Please log in with it.');
          go('login');
        });
      }}
    >
      <h1>A new password</h1>
      <Field
        label="New password"
        name="password"
        value={password}
        onValue={setPassword}
        error={error}
        hint="At least 8 characters. You are logged out everywhere."
        input={{ type: 'password', autoComplete: 'new-password', required: true }}
      />
      {error instanceof UnauthenticatedError ? (
        <div class="problem" role="alert">
          <p>This link has been used already, or its time is over.</p>
          <a class="button" href={to('lost-password')}>
            Ask for another one
          </a>
        </div>
      ) : (
        error !== undefined && Object.keys(fieldErrors(error)).length === 0 && <Problem error={error} />
      )}
      <button type="submit" class="button button-primary" disabled={busy}>
        Set it
      </button>
    </form>
  );
}

export function SignUp() {
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isPrivate, setPrivate] = useState(false);
  const { busy, error, act } = useAction();
  const created = useRef<string>(); // the account is there, and only its login has failed
  const create = async () => {
    if (created.current === username) return logIn(username, password);
    await api.createUser({
      username: username.trim(),
      email: email.trim(),
      password,
      is_private: isPrivate,
      ...(name.trim() && { display_name: name.trim() }),
    });
    created.current = username;
    await logIn(username, password);
  };
  return (
    <form
      class="card form"
      onSubmit={(event) => {
        event.preventDefault();
        void act(create).then((done) => done && go());
      }}
    >
      <h1>Sign up</h1>
      <Field
        label="User name"
        name="username"
        value={username}
        onValue={setUsername}
        error={error}
        hint="3 to 30 letters and digits. It cannot be changed later."
        input={{ autoComplete: 'username', autoCapitalize: 'none', required: true }}
      />
      <Field
        label="E-mail address"
        name="email"
        value={email}
        onValue={setEmail}
        error={error}
        hint="Only you see it."
        input={{ type: 'email', autoComplete: 'email', required: true }}
      />
      <Field
        label="Name to show (optional)"
        name="display_name"
        value={name}
        onValue={setName}
        error={error}
        input={{ autoComplete: 'name' }}
      />
      <Field
        label="Password"
        name="password"
        value={password}
        onValue={setPassword}
        error={error}
        hint="At least 8 characters."
        input={{ type: 'password', autoComplete: 'new-password', required: true }}
      />
      <label class="check">
        <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.currentTarget.checked)} />
        Private account: I approve who follows me
      </label>
      {error !== undefined && Object.keys(fieldErrors(error)).length === 0 && <Problem error={error} />}
      <button type="submit" class="button button-primary" disabled={busy}>
        {busy ? 'Signing up…' : 'Sign up'}
      </button>
      <p class="quiet">
        You have an account? <a href={to('login')}>Log in</a>
      </p>
    </form>
  );
}

/** A session ends by a new password, for example. What the person was doing waits meanwhile, and goes on. */
export function Reentry() {
  const answer = useCell(reentry);
  const me = useCell(session);
  const [password, setPassword] = useState('');
  const { busy, error, act } = useAction();
  useEffect(() => setPassword(''), [answer]);
  if (!answer || !me) return null;
  return (
    <Dialog title="Please log in again" onClose={() => void logOut()}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void act(async () => void (await logInAgain(password)));
        }}
      >
        <p>
          For safety a login ends after a while. Enter the password of <b>{me.username}</b> to go on where you were.
        </p>
        <input class="visually-hidden" autoComplete="username" value={me.username} readOnly tabIndex={-1} />
        <Field
          label="Password"
          name="password"
          value={password}
          onValue={setPassword}
          input={{ type: 'password', autoComplete: 'current-password', required: true, autoFocus: true }}
        />
        <LoginProblem error={error} />
        <div class="row row-end">
          <button type="button" class="button" onClick={() => void logOut()}>
            Log out
          </button>
          <button type="submit" class="button button-primary" disabled={busy}>
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  );
}
