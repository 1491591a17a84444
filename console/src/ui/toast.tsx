// Short messages in the corner: success or failure. SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icons';

export type ToastKind = 'info' | 'ok' | 'danger';

interface Message {
  id: number;
  text: string;
  kind: ToastKind;
}

const SHOWN_MS = 5_000;
let shown: Message[] = [];
let next = 0;
let tell: (messages: Message[]) => void = () => {};

const set = (messages: Message[]) => {
  shown = messages;
  tell(messages);
};

export function toast(text: string, kind: ToastKind = 'info'): void {
  const id = next++;
  set([...shown, { id, text, kind }].slice(-3));
  setTimeout(() => set(shown.filter((message) => message.id !== id)), SHOWN_MS);
}

export function Toasts() {
  const [messages, setMessages] = useState(shown);
  useEffect(() => {
    tell = setMessages;
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.map((message) => (
        <div class={`toast toast-${message.kind}`} key={message.id}>
          <Icon name={message.kind === 'ok' ? 'check' : message.kind === 'danger' ? 'warn' : 'info'} />
          {message.text}
        </div>
      ))}
    </div>
  );
}
