// Watching a list of a design: server-sent events over fetch, because an EventSource cannot send a token.
// SPDX-License-Identifier: Apache-2.0
import { ApiError } from './client';
import { freshDesign } from './session';

export interface WatchEvent {
  event: string;
  id: string;
  data: unknown;
}

/** The events of a stream, in pieces as they arrive; comments have none. */
export class EventParser {
  private rest = '';

  feed(text: string): WatchEvent[] {
    this.rest += text;
    const blocks = this.rest.split(/\r?\n\r?\n/);
    this.rest = blocks.pop()!;
    return blocks.flatMap((block) => this.read(block));
  }

  private read(block: string): WatchEvent[] {
    const fields: Record<string, string[]> = {};
    for (const line of block.split(/\r?\n/)) {
      const found = /^(\w+): ?(.*)$/.exec(line);
      if (found) (fields[found[1]!] ??= []).push(found[2]!);
    }
    if (!fields.event) return [];
    let data: unknown = null;
    try {
      data = JSON.parse((fields.data ?? ['null']).join('\n'));
    } catch {
      /* the event has no JSON */
    }
    return [{ event: fields.event[0]!, id: fields.id?.[0] ?? '', data }];
  }
}

/** Until the signal aborts or the server ends it. Only as the operator or anonymously: other callers need their own
 * tokens. */
export async function watch(
  design: string,
  path: string,
  as: 'operator' | 'nobody',
  signal: AbortSignal,
  tell: (event: WatchEvent) => void,
): Promise<void> {
  const { base, token } = await freshDesign(design);
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (as === 'operator') headers.authorization = `Bearer ${token}`;
  const response = await fetch(base + path, { headers, signal, cache: 'no-store', credentials: 'omit' });
  if (!response.ok || !response.body) {
    const body = (await response.json().catch(() => null)) as { detail?: string; title?: string; type?: string } | null;
    throw new ApiError(
      response.status,
      body?.type ?? String(response.status),
      body?.detail ?? body?.title ?? response.statusText,
      body,
    );
  }
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.feed(value)) tell(event);
  }
}
