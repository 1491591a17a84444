// Text that people wrote, as nodes: links, hashtags and names can be followed. Nothing of it is ever parsed as HTML.
// SPDX-License-Identifier: Apache-2.0
import { type ComponentChildren } from 'preact';
import { to } from './router';

const PARTS = /(https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]|#[\p{L}\p{N}_]+|@[A-Za-z0-9_.-]*[A-Za-z0-9_])/gu;

export function Rich({ text }: { text: string }) {
  const nodes: ComponentChildren[] = text.split(PARTS).map((part, i) => {
    if (i % 2 === 0) return part;
    if (part.startsWith('#')) return <a href={to('tags', part.slice(1))}>{part}</a>;
    if (part.startsWith('@')) return <a href={to('names', part.slice(1).toLowerCase())}>{part}</a>;
    return (
      <a href={part} target="_blank" rel="noopener noreferrer nofollow ugc">
        {part.replace(/^https?:\/\//, '')}
      </a>
    );
  });
  return <>{nodes}</>;
}

const TAGS_MOST = 30;

export function tagsOf(text: string): string[] {
  return [...new Set([...text.matchAll(/#[\p{L}\p{N}_]+/gu)].map(([tag]) => tag.toLowerCase()))].slice(0, TAGS_MOST);
}

export function mentionsOf(text: string): string[] {
  const found = [...text.matchAll(/(?<![\w@])@[A-Za-z0-9_.-]*[A-Za-z0-9_]/g)].map(([name]) => name.toLowerCase());
  return [...new Set(found)].slice(0, TAGS_MOST);
}

/** The address of a picture, if it is one that a page may show: https, and nothing that runs. */
export function pictureUrl(text: string | undefined): string | undefined {
  try {
    const url = new URL(text ?? '');
    return url.protocol === 'https:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const dated = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });

export function Time({ at }: { at: string | undefined }) {
  if (!at) return null;
  const date = new Date(at);
  const age = (Date.now() - date.getTime()) / 1000;
  const unit = UNITS.find(([, seconds]) => age >= seconds);
  const text =
    age > 7 * 86_400 ? dated.format(date) : unit ? relative.format(-Math.floor(age / unit[1]), unit[0]) : 'now';
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {text}
    </time>
  );
}
