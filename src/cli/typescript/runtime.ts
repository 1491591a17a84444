// ---- what every client of Thorpe does: requests, retries, pages, live lists, errors ----

export interface ClientOptions {
  /** Where the API is, such as http://127.0.0.1:8000/api/social. */
  baseUrl: string;
  /** A token from an earlier login. */
  token?: string;
  /** The renewal token that came with it. */
  renewal?: string;
  /**
   * Called when a request is refused with 401, which happens to a token that has ended and cannot be renewed: log in
   * again and return a new token, and the request is sent once more. Return nothing to let it fail. Requests that meet
   * it at the same time share one call.
   */
  onUnauthenticated?: () => Promise<string | undefined>;
  /**
   * Called with each new token and at its end, to keep it beyond this page; with the renewal token, if the design has
   * sessions. A renewal token is good for one renewal: pages that share one must not renew at once (Web Locks).
   */
  onToken?: (token: string | undefined, renewal?: string) => void;
  /** Instead of the global fetch. */
  fetch?: typeof fetch;
  /** How often a request is sent at most, when the server is busy or out of reach. 4 unless given. */
  attempts?: number;
}

export interface RequestOptions {
  signal?: AbortSignal;
}

export interface WriteOptions extends RequestOptions {
  /** Writes only while the item is as you saw it: its version (`updated_at`, unless the design says otherwise). */
  ifMatch?: string;
  /** Ten minutes long, a write with the same key is done once. Each call has a key of its own unless given. */
  idempotencyKey?: string;
}

export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail?: string;
  /** The attribute whose value is taken. */
  attribute?: string;
  /** After a write that got no answer. Left out: nothing was written. */
  outcome?: 'unknown' | 'done';
  errors?: { attribute?: string; detail: string }[];
}

/** A request that was refused, or that could not be answered. The subclasses say why. */
export class ApiError extends Error {
  constructor(
    readonly problem: ProblemDocument,
    /** After so many seconds the same request may succeed. */
    readonly retryAfter?: number,
  ) {
    super(problem.detail ?? problem.title);
    this.name = new.target.name;
  }
  get status(): number {
    return this.problem.status;
  }
  /** What is wrong with each attribute. */
  get errors(): { attribute?: string; detail: string }[] {
    return this.problem.errors ?? [];
  }
}
/** 400: the request cannot be read. */
export class MalformedError extends ApiError {}
/** 401: no token, or one that has ended. */
export class UnauthenticatedError extends ApiError {}
/** 403: the caller may not do this. */
export class ForbiddenError extends ApiError {}
/** 404: there is no such item, or the caller may not see it. */
export class NotFoundError extends ApiError {}
/** 409: an item with this identity exists already. */
export class AlreadyExistsError extends ApiError {}
/** 409: a unique value is in use; `attribute` says which. */
export class TakenError extends ApiError {
  get attribute(): string | undefined {
    return this.problem.attribute;
  }
}
/** 409: the state of the item, or of another one, does not allow this. */
export class ConflictError extends ApiError {}
/** 412: the item has changed since `ifMatch`. */
export class ChangedError extends ApiError {}
/** 422: values that do not fit; `errors` has one line for each. */
export class InvalidError extends ApiError {}
/** 429: too many failed attempts; try again after `retryAfter` seconds. */
export class TooManyAttemptsError extends ApiError {}
/** 5xx, or no answer at all. `problem.outcome` is set after a write that may have been done. */
export class UnavailableError extends ApiError {}

const errorClasses: Record<string, new (problem: ProblemDocument, retryAfter?: number) => ApiError> = {
  malformed: MalformedError,
  unauthenticated: UnauthenticatedError,
  forbidden: ForbiddenError,
  'not-found': NotFoundError,
  'already-exists': AlreadyExistsError,
  taken: TakenError,
  conflict: ConflictError,
  changed: ChangedError,
  invalid: InvalidError,
  'too-many-attempts': TooManyAttemptsError,
  internal: UnavailableError,
  busy: UnavailableError,
};

function errorOf(problem: ProblemDocument, retryAfter?: number): ApiError {
  const known = errorClasses[problem.type.replace('urn:thorpe:', '')];
  return new (known ?? (problem.status >= 500 ? UnavailableError : ApiError))(problem, retryAfter);
}

/** One event of a watched list. `reset`: changes were missed, so read the list again. */
export type LiveEvent<T> =
  { kind: 'added' | 'changed' | 'removed'; item: T } | { kind: 'ready' | 'reset'; item?: undefined };

export interface PageOf<T> {
  items: T[];
  /** For `after` of the next page; absent on the last one. */
  next?: string;
}

/**
 * A list, which is read when it is asked for. `for await (const item of list)` goes through all pages, `list.page()`
 * reads one.
 */
export class ListOf<T> implements AsyncIterable<T> {
  constructor(
    protected readonly transport: Transport,
    protected readonly path: string,
    protected readonly params: object,
    protected readonly options: RequestOptions,
  ) {}
  page(after?: string): Promise<PageOf<T>> {
    const params = after === undefined ? this.params : { ...this.params, after };
    return this.transport.send<PageOf<T>>('GET', this.path, params, undefined, this.options);
  }
  async *pages(): AsyncGenerator<PageOf<T>, void, undefined> {
    let page = await this.page();
    yield page;
    while (page.next !== undefined) {
      page = await this.page(page.next);
      yield page;
    }
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
  /** The items of all pages, `most` of them at the most. */
  async all(most = Infinity): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages()) {
      items.push(...page.items);
      if (items.length >= most) return items.slice(0, most);
    }
    return items;
  }
}

/** A list whose changes can be watched. */
export class LiveListOf<T> extends ListOf<T> {
  /**
   * The list's changes from now on. First comes `ready`: read the list after it, and nothing is missed. A lost
   * connection is made again, and goes on where it was. Ends when `signal` is aborted.
   */
  watch(options: RequestOptions = {}): AsyncGenerator<LiveEvent<T>, void, undefined> {
    return this.transport.watch<T>(this.path, this.params, { ...this.options, ...options });
  }
}

/** Where to send a file. */
interface UploadSlot {
  file: string;
  upload: { method: string; url: string; headers: Record<string, string> };
}

interface Outgoing {
  method: string;
  path: string;
  params: object;
  body?: unknown;
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
  /** Without the token: a login, or a request with a renewal token. */
  anonymous?: boolean;
}

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });

/** Node.js 18 has no global crypto. A key must be new, not secret, so Math.random() is good enough there. */
const randomBytes = (): Uint8Array => {
  const source = globalThis.crypto as Crypto | undefined;
  const bytes = new Uint8Array(16);
  return source ? source.getRandomValues(bytes) : bytes.map(() => Math.floor(Math.random() * 256));
};

/** As crypto.randomUUID(), which pages have only with https or on localhost. */
const newKey = (): string =>
  Array.from(randomBytes(), (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Sends requests with the token, and again when that can help. */
export class Transport {
  private current: string | undefined;
  private renewal: string | undefined;
  private renewing: Promise<string | undefined> | undefined;

  constructor(
    private readonly options: ClientOptions,
    /** The address that renews tokens, if the design has sessions. */
    private readonly renewPath?: string,
  ) {
    this.current = options.token;
    this.renewal = options.renewal;
  }

  get token(): string | undefined {
    return this.current;
  }
  set token(token: string | undefined) {
    this.take(token, token === undefined ? undefined : this.renewal);
  }

  private take(token: string | undefined, renewal: string | undefined): void {
    this.current = token;
    this.renewal = renewal;
    this.options.onToken?.(token, renewal);
  }

  async send<T>(method: string, path: string, params: object, body: unknown, options: WriteOptions = {}): Promise<T> {
    return this.exchange({ ...this.prepare(method, options), path, params, body });
  }

  /** A login or a renewal: its tokens are used from now on. */
  async signIn<T extends { token: string; renewal?: string }>(
    path: string,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<T> {
    const reply = await this.exchange<T>({
      ...this.prepare('POST', options),
      path,
      params: {},
      body,
      anonymous: true,
    });
    this.take(reply.token, reply.renewal);
    return reply;
  }

  /** Asks for an upload, sends the file where the answer says, and returns its id: what to write into the item. */
  async upload(path: string, params: object, file: Blob, options: WriteOptions = {}): Promise<string> {
    const { name } = file as { name?: unknown };
    const ask = { type: file.type || 'application/octet-stream', size: file.size };
    const body = typeof name === 'string' && name !== '' ? { ...ask, name } : ask;
    const slot = await this.send<UploadSlot>('POST', path, params, body, options);
    await this.sendFile(slot, file, options.signal);
    return slot.file;
  }

  /** The whole address of a file's `url`, which may be one of this server without its name. */
  fileUrl(url: string): string {
    const origin = /^[a-z]+:\/\/[^/]+/i.exec(this.options.baseUrl)?.[0] ?? '';
    return url.startsWith('/') ? origin + url : url;
  }

  /** 412 says that the file is there: an earlier try got through. */
  private async sendFile({ upload }: UploadSlot, file: Blob, signal?: AbortSignal): Promise<void> {
    const attempts = Math.max(1, this.options.attempts ?? 4);
    for (let attempt = 1; ; attempt++) {
      let failed: unknown;
      try {
        const { method, headers } = upload;
        const init: RequestInit = { method, headers, body: file, signal: signal ?? null };
        const reply = await (this.options.fetch ?? fetch)(this.fileUrl(upload.url), init);
        if (reply.ok || reply.status === 412) return;
        failed = await refusal(reply);
      } catch (error) {
        if (signal?.aborted) throw error;
        failed = lost({ method: 'GET' }, error);
      }
      if (!(failed instanceof UnavailableError) || attempt >= attempts) throw failed;
      await pause(Math.max(100 * 2 ** attempt, 1000 * (failed.retryAfter ?? 0)), signal);
    }
  }

  /** The end of the session: no token is used any more. */
  async signOut(path: string, body: object | undefined, options: WriteOptions = {}): Promise<void> {
    const renewal = this.renewal === undefined ? {} : { renewal: this.renewal };
    const out = { ...this.prepare('POST', options), path, params: {}, body: { ...renewal, ...body } };
    try {
      await this.exchange({ ...out, anonymous: 'renewal' in out.body });
    } catch (error) {
      if (!(error instanceof UnauthenticatedError)) throw error; // it has ended already
    }
    this.take(undefined, undefined);
  }

  private prepare(method: string, options: WriteOptions): Pick<Outgoing, 'method' | 'headers' | 'signal'> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (options.ifMatch !== undefined)
      headers['if-match'] = /^(\*|(W\/)?".*")$/.test(options.ifMatch) ? options.ifMatch : `"${options.ifMatch}"`;
    if (method !== 'GET') headers['idempotency-key'] = options.idempotencyKey ?? newKey();
    return { method, headers, signal: options.signal };
  }

  private async exchange<T>(out: Outgoing): Promise<T> {
    if (out.body !== undefined) out.headers['content-type'] = 'application/json';
    const reply = await this.persist(out);
    return (reply.status === 204 ? undefined : await reply.json()) as T;
  }

  async *watch<T>(
    path: string,
    params: object,
    options: RequestOptions,
  ): AsyncGenerator<LiveEvent<T>, void, undefined> {
    const { signal } = options;
    let last: string | undefined;
    let failures = 0;
    try {
      for (;;) {
        try {
          const headers: Record<string, string> = { accept: 'text/event-stream' };
          if (last !== undefined) headers['last-event-id'] = last;
          const reply = await this.persist({ method: 'GET', path, params, headers, signal });
          for await (const { id, event, data } of eventsOf(reply)) {
            failures = 0;
            if (id !== undefined) last = id;
            if (event === 'ready' || event === 'reset') yield { kind: event };
            else if (event === 'added' || event === 'changed' || event === 'removed')
              yield { kind: event, item: JSON.parse(data) as T };
          }
        } catch (error) {
          if (signal?.aborted) return;
          if (error instanceof ApiError && !(error instanceof UnavailableError)) throw error;
        }
        await pause(Math.min(250 * 2 ** failures++, 15_000) * (0.5 + Math.random() / 2), signal);
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  private address(path: string, params: object): string {
    const query = new URLSearchParams();
    const given: Record<string, unknown> = { ...params };
    const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => {
      const value = given[name];
      delete given[name];
      return encodeURIComponent(String(value));
    });
    for (const [name, value] of Object.entries(given))
      if (value !== undefined)
        for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
    const asked = query.toString();
    return this.options.baseUrl.replace(/\/+$/, '') + filled + (asked && `?${asked}`);
  }

  private async once(out: Outgoing): Promise<Response> {
    const token = out.anonymous ? undefined : this.current;
    return (this.options.fetch ?? fetch)(this.address(out.path, out.params), {
      method: out.method,
      headers: token === undefined ? out.headers : { ...out.headers, authorization: `Bearer ${token}` },
      body: out.body === undefined ? null : JSON.stringify(out.body),
      signal: out.signal ?? null,
    });
  }

  /** Sends it until there is an answer, or sending it again cannot help. */
  private async persist(out: Outgoing): Promise<Response> {
    const attempts = Math.max(1, this.options.attempts ?? 4);
    let renewed = false;
    for (let attempt = 1; ; attempt++) {
      const token = this.current;
      let failed: unknown;
      try {
        const reply = await this.once(out);
        if (reply.ok) return reply;
        failed = await refusal(reply);
      } catch (error) {
        if (out.signal?.aborted) throw error;
        failed = lost(out, error);
      }
      if (failed instanceof UnauthenticatedError && token !== undefined && !renewed && !out.anonymous) {
        renewed = true;
        attempt--;
        if (await this.renew(token)) continue;
      }
      if (!(failed instanceof UnavailableError) || failed.status === 500 || attempt >= attempts) throw failed;
      const backoff = 100 * 2 ** attempt * (0.5 + Math.random() / 2);
      await pause(Math.max(backoff, 1000 * (failed.retryAfter ?? 0)), out.signal);
    }
  }

  /** A new token in place of `ended`; false: there is none. */
  private async renew(ended: string): Promise<boolean> {
    if (this.current === ended) {
      this.renewing ??= this.another().finally(() => {
        this.renewing = undefined;
      });
      const token = await this.renewing;
      if (this.current === ended && token !== undefined) this.token = token;
    }
    return this.current !== undefined && this.current !== ended;
  }

  private async another(): Promise<string | undefined> {
    const { renewal } = this;
    if (renewal !== undefined && this.renewPath !== undefined)
      try {
        return (await this.signIn(this.renewPath, { renewal })).token;
      } catch (error) {
        if (!(error instanceof UnauthenticatedError)) throw error;
        if (this.renewal !== renewal) return this.current; // a login meanwhile, whose renewal token stays
        this.take(this.current, undefined);
      }
    return this.options.onUnauthenticated?.();
  }
}

async function refusal(reply: Response): Promise<ApiError> {
  const seconds = Number(reply.headers.get('retry-after'));
  const text = await reply.text();
  let problem: ProblemDocument = { type: 'about:blank', title: reply.statusText, status: reply.status };
  try {
    const parsed = JSON.parse(text) as ProblemDocument;
    if (typeof parsed.type === 'string') problem = { ...problem, ...parsed };
  } catch {
    // something between the client and the server answered
  }
  return errorOf(problem, seconds > 0 ? seconds : undefined);
}

/** No answer: a write may have been done. */
function lost(out: { method: string }, cause: unknown): ApiError {
  const problem: ProblemDocument = {
    type: 'urn:thorpe:busy',
    title: 'No answer',
    status: 503,
    detail: `the server cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`,
  };
  if (out.method !== 'GET') problem.outcome = 'unknown';
  return errorOf(problem);
}

interface ServerEvent {
  id?: string;
  event: string;
  data: string;
}

/** Server-sent events, as the HTML standard reads them. */
async function* eventsOf(reply: Response): AsyncGenerator<ServerEvent, void, undefined> {
  if (!reply.body) return;
  const reader = reply.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event: ServerEvent = { event: 'message', data: '' };
        const data: string[] = [];
        for (const line of block.split(/\r?\n/)) {
          const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
          if (field === 'id' && text !== undefined) event.id = text;
          else if (field === 'event') event.event = text ?? '';
          else if (field === 'data') data.push(text ?? '');
        }
        yield { ...event, data: data.join('\n') };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
