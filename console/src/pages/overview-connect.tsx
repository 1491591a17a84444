// For the first visit: how to point an SDK at this server, and where to look first.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { examples } from '../lib/connect';
import { session } from '../lib/session';
import { href } from '../router';
import { Button, CopyButton, Icon, IconButton, Tabs } from '../ui';

const STORED = 'thorpe.connect.hidden';
const STORED_TAB = 'thorpe.connect.tab';

/** Whether it is shown: until closed, and again on request. */
export function useConnectPanel(): [boolean, (shown: boolean) => void] {
  const [shown, setShown] = useState(localStorage.getItem(STORED) === null);
  return [
    shown,
    (show) => {
      if (show) localStorage.removeItem(STORED);
      else localStorage.setItem(STORED, '1');
      setShown(show);
    },
  ];
}

function FirstSteps() {
  const first = session().designs[0];
  if (!first) return null;
  const steps = [
    {
      to: href(['table', first.table]),
      title: 'See the single table',
      text: `Everything of ${first.title} in one table: item collections, coloured by entity.`,
    },
    {
      to: href(['design', first.name, 'patterns']),
      title: 'Run an access pattern',
      text: 'See its items, the DynamoDB requests behind them, and what they cost.',
    },
    {
      to: href(['design', first.name]),
      title: 'Read the design',
      text: 'Entities, keys, indexes, and why they are as they are.',
    },
  ];
  return (
    <ul class="steps">
      {steps.map((step) => (
        <li key={step.to}>
          <a href={step.to}>
            <span>
              <b>{step.title}</b>
              <span class="muted">{step.text}</span>
            </span>
            <Icon name="right" size={14} />
          </a>
        </li>
      ))}
    </ul>
  );
}

export function ConnectPanel({ onClose }: { onClose: () => void }) {
  const all = examples(session());
  const [chosen, setChosen] = useState(localStorage.getItem(STORED_TAB) ?? all[0]!.id);
  const example = all.find(({ id }) => id === chosen) ?? all[0]!;
  const choose = (id: string) => {
    localStorage.setItem(STORED_TAB, id);
    setChosen(id);
  };
  return (
    <section class="panel connect" aria-labelledby="connect-title">
      <header class="connect-head">
        <div>
          <h2 id="connect-title">Point an SDK at this server</h2>
          <p class="muted">It speaks DynamoDB’s API: change the endpoint, and existing code works.</p>
        </div>
        <IconButton icon="close" label="Hide this panel" onClick={onClose} />
      </header>
      <div class="connect-body">
        <div class="connect-code">
          <Tabs
            label="Language"
            tabs={all.map(({ id, label }) => ({ id, label }))}
            selected={example.id}
            onSelect={choose}
          />
          <p class="connect-install">
            <code>{example.install}</code>
            <CopyButton text={example.install} />
          </p>
          <div class="code">
            <pre tabIndex={0}>{example.code}</pre>
            <CopyButton text={example.code} label="Copy" />
          </div>
        </div>
        <FirstSteps />
      </div>
    </section>
  );
}

export function ConnectButton({ onClick }: { onClick: () => void }) {
  return (
    <Button icon="link" onClick={onClick}>
      How to connect
    </Button>
  );
}
