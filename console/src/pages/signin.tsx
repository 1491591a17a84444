// Asks for an access key and its secret where the server has keys.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { Credentials } from '../lib/sigv4';
import { Button, ErrorBox, Field, Input } from '../ui';
import { Mark } from '../ui/mark';

export function SignInPage({ onKeys }: { onKeys: (keys: Credentials) => Promise<void> }) {
  const [accessKey, setAccessKey] = useState('');
  const [secret, setSecret] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    onKeys({ accessKey: accessKey.trim(), secret: secret.trim() }).catch((problem: Error) => {
      setError(problem);
      setBusy(false);
    });
  };
  return (
    <main class="splash">
      <form class="panel signin" onSubmit={submit}>
        <div class="signin-head">
          <Mark size={32} />
          <h1>Thorpe</h1>
        </div>
        <p class="muted">This server has keys. Sign in with one of them.</p>
        <Field label="Access key">
          <Input
            value={accessKey}
            onInput={setAccessKey}
            mono
            required
            autoFocus
            name="access-key"
            autoComplete="username"
          />
        </Field>
        <Field label="Secret">
          <Input
            value={secret}
            onInput={setSecret}
            mono
            required
            type="password"
            name="secret"
            autoComplete="current-password"
          />
        </Field>
        {error && <ErrorBox error={error} />}
        <Button kind="primary" type="submit" busy={busy} disabled={!accessKey || !secret}>
          Sign in
        </Button>
        <p class="field-hint">
          The secret stays in this browser tab and is never sent: each request is signed with it.
        </p>
      </form>
    </main>
  );
}
