// The overlay of `?`: the keys of this page. SPDX-License-Identifier: Apache-2.0
import { currentHotkeys, Dialog, Kbd } from '../ui';

export function KeysOverlay({ onClose }: { onClose: () => void }) {
  const seen = new Map<string, string>();
  for (const { key, label } of currentHotkeys()) seen.set(key, label);
  const goes = (key: string) => key.startsWith('g ');
  const rows = [...[...seen].filter(([key]) => !goes(key)), ...[...seen].filter(([key]) => goes(key)).reverse()]; // those of the frame are kept newest first
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {rows.map(([key, label]) => (
          <div key={key}>
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
            <dd>{label[0]!.toUpperCase() + label.slice(1)}</dd>
          </div>
        ))}
        {!seen.has('Escape') && (
          <div>
            <dt>
              <Kbd>Escape</Kbd>
            </dt>
            <dd>Close the dialog or panel</dd>
          </div>
        )}
        <div>
          <dt>
            <Kbd>Tab</Kbd>
          </dt>
          <dd>To the next link, button or field</dd>
        </div>
      </dl>
    </Dialog>
  );
}
