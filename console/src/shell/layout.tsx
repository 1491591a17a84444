// The frame around every page: rail, header, palette, keys.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { needsKeys, session, signOut } from '../lib/session';
import { useStats } from '../lib/stats';
import { chooseTheme, chosenTheme, type Theme } from '../lib/theme';
import { go, href, type Route } from '../router';
import { Button, Dialog, Icon, IconButton, Kbd, Toasts, useHotkey } from '../ui';
import { KeysOverlay } from './keys';
import { Palette } from './palette';
import { crumbs, designAt, tableAt } from './places';
import { Rail } from './rail';

const NEXT_THEME: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const THEME_LABEL: Record<Theme, string> = { auto: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' };

function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme());
  const next = () => {
    chooseTheme(NEXT_THEME[theme]);
    setTheme(NEXT_THEME[theme]);
  };
  useHotkey('shift+t', next, 'Light, dark, or as the system', true);
  return (
    <IconButton
      icon={theme === 'auto' ? 'auto' : theme === 'light' ? 'sun' : 'moon'}
      label={THEME_LABEL[theme]}
      onClick={next}
    />
  );
}

function Breadcrumb({ route }: { route: Route }) {
  const trail = crumbs(route);
  return (
    <nav class="crumbs" aria-label="Where you are">
      <ol>
        {trail.map((crumb, at) => (
          <li key={at} class={crumb.mono ? 'mono' : ''}>
            {crumb.href && at < trail.length - 1 ? (
              <a href={crumb.href}>{crumb.label}</a>
            ) : (
              <span aria-current="page">{crumb.label}</span>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Shown only when there is something to say. */
function Health() {
  const { stats, error } = useStats();
  if (error) {
    return (
      <span class="health health-bad" role="status">
        <span class="dot dot-danger" />
        {error.message}
        {needsKeys(error) && (
          <Button small onClick={signOut}>
            Sign in
          </Button>
        )}
      </span>
    );
  }
  if (stats && stats.health !== 'ok')
    return (
      <span class="health health-bad" role="status">
        <span class="dot dot-danger" />
        {stats.health}
      </span>
    );
  return null;
}

/** "g" and a letter; on a page without a table or design, those of the first design. */
function useGoKeys(route: Route): void {
  const design = designAt(route) ?? (tableAt(route) ? undefined : session().designs[0]);
  const table = tableAt(route) ?? design?.table;
  const withTable =
    (...parts: string[]) =>
    () => {
      if (table) go(href([parts[0]!, table, ...parts.slice(1)]));
    };
  const withDesign =
    (...parts: string[]) =>
    () => {
      if (design) go(href([parts[0]!, design.name, ...parts.slice(1)]));
    };
  useHotkey('g o', () => go('#/'), 'Go to the overview', true);
  useHotkey('g t', withTable('table'), 'Go to the single table', true);
  useHotkey('g a', withDesign('design', 'patterns'), 'Go to the access patterns', true);
  useHotkey('g d', withDesign('design'), 'Go to the design', true);
  useHotkey('g q', withTable('table', 'query'), 'Go to the query builder', true);
  useHotkey('g s', withTable('streams'), 'Go to the stream', true);
  useHotkey('g p', withDesign('processors'), 'Go to the processors', true);
}

/** A new page begins at its top, with its name in the title, and the keyboard in it. */
function usePageChange(route: Route) {
  const main = useRef<HTMLElement>(null);
  const path = route.path.join('/');
  const first = useRef(true);
  useEffect(() => {
    document.title = `${crumbs(route)
      .map((crumb) => crumb.label)
      .reverse()
      .join(' · ')} · Thorpe`;
    if (!first.current) {
      scrollTo(0, 0);
      if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    }
    first.current = false;
  }, [path]);
  return main;
}

export function Layout({ route, children }: { route: Route; children: ComponentChildren }) {
  const [overlay, setOverlay] = useState<'palette' | 'keys' | 'rail' | null>(null);
  const close = () => setOverlay(null);
  const main = usePageChange(route);
  useHotkey(
    'mod+k',
    () => setOverlay(overlay === 'palette' ? null : 'palette'),
    'Go to a table, design or access pattern',
    true,
  );
  useHotkey('/', () => setOverlay('palette'), 'Search', true);
  useHotkey('?', () => setOverlay('keys'), 'Show these keys', true);
  useGoKeys(route);
  useEffect(() => {
    if (overlay === 'rail') close();
  }, [route]);

  return (
    <div class="app">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        To the content
      </a>
      <div class="app-rail">
        <Rail route={route} />
      </div>
      <header class="head">
        <IconButton class="head-menu" icon="menu" label="Tables and designs" onClick={() => setOverlay('rail')} />
        <Breadcrumb route={route} />
        <Health />
        <button
          type="button"
          class="head-search"
          onClick={() => setOverlay('palette')}
          aria-label="Go to a table, design or access pattern"
        >
          <Icon name="search" />
          <span>Go to…</span>
          <Kbd>mod+k</Kbd>
        </button>
        <IconButton class="head-keys" icon="keyboard" label="Keys (?)" onClick={() => setOverlay('keys')} />
        <ThemeSwitch />
        {session().auth === 'keys' && <IconButton icon="signout" label="Sign out" onClick={signOut} />}
      </header>
      <main class="main" id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {overlay === 'palette' && <Palette near={designAt(route)?.title} onClose={close} />}
      {overlay === 'keys' && <KeysOverlay onClose={close} />}
      {overlay === 'rail' && (
        <Dialog title="Tables and designs" onClose={close} bare drawer>
          <Rail route={route} />
        </Dialog>
      )}
      <Toasts />
    </div>
  );
}
