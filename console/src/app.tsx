// The frame: signs in if the server requires it, then shows the page of the address.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { load, needsKeys, signIn } from './lib/session';
import type { Credentials } from './lib/sigv4';
import { DesignPage } from './pages/design';
import { ItemPage } from './pages/item';
import { OverviewPage } from './pages/overview';
import { PatternsPage } from './pages/patterns';
import { ProcessorsPage } from './pages/processors';
import { QueryPage } from './pages/query';
import { SignInPage } from './pages/signin';
import { StreamsPage } from './pages/streams';
import { TablePage } from './pages/table';
import { useRoute, type Route } from './router';
import { Layout } from './shell/layout';
import { Empty, ErrorBox, Spinner } from './ui';

/** The page of an address. The key remounts it for another table or design. */
function Page({ route }: { route: Route }) {
  const [kind, name, part] = route.path;
  if (!kind) return <OverviewPage route={route} />;
  if (kind === 'table' && name) {
    if (part === 'item') return <ItemPage route={route} key={name} />;
    if (part === 'query') return <QueryPage route={route} key={name} />;
    if (!part) return <TablePage route={route} key={name} />;
  }
  if (kind === 'design' && name) {
    if (part === 'patterns') return <PatternsPage route={route} key={name} />;
    if (!part) return <DesignPage route={route} key={name} />;
  }
  if (kind === 'streams' && name) return <StreamsPage route={route} key={name} />;
  if (kind === 'processors' && name) return <ProcessorsPage route={route} key={name} />;
  return (
    <Empty title="There is no such page">
      <a href="#/">To the overview</a>
    </Empty>
  );
}

type State = 'loading' | 'sign-in' | 'ready' | Error;

export function App() {
  const route = useRoute();
  const [state, setState] = useState<State>('loading');
  const begin = () => {
    setState('loading');
    load().then(
      () => setState('ready'),
      (error: Error) => setState(needsKeys(error) ? 'sign-in' : error),
    );
  };
  useEffect(begin, []);

  if (state === 'loading')
    return (
      <div class="splash">
        <Spinner />
      </div>
    );
  if (state instanceof Error)
    return (
      <div class="splash">
        <ErrorBox error={state} retry={begin} />
      </div>
    );
  if (state === 'sign-in') {
    return <SignInPage onKeys={(keys: Credentials) => signIn(keys).then(() => setState('ready'))} />;
  }
  return (
    <Layout route={route}>
      <Page route={route} />
    </Layout>
  );
}
