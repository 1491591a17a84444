// Signs requests as AWS does (Signature Version 4). On @noble/hashes, because crypto.subtle is missing on plain http beyond localhost.
// SPDX-License-Identifier: Apache-2.0
import { hmac } from '@noble/hashes/hmac';
import { sha256 } from '@noble/hashes/sha256';
import { bytesToHex } from '@noble/hashes/utils';

export interface Credentials {
  accessKey: string;
  secret: string;
}

export interface Signable {
  method: string;
  host: string;
  path: string;
  query?: string;
  headers: Record<string, string>;
  body: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'dynamodb';

const hash = (text: string) => bytesToHex(sha256(text));

/** The headers to add: x-amz-date and authorization. `host` is signed but not returned: the browser sets it. */
export function sign(
  request: Signable,
  credentials: Credentials,
  region: string,
  now = new Date(),
): Record<string, string> {
  const stamp = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${stamp.slice(0, 8)}/${region}/${SERVICE}/aws4_request`;
  const headers: Record<string, string> = { host: request.host, 'x-amz-date': stamp };
  for (const [name, value] of Object.entries(request.headers))
    headers[name.toLowerCase()] = value.trim().replace(/ +/g, ' ');

  const names = Object.keys(headers).sort();
  const signed = names.join(';');
  const canonical = [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query ?? ''),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    signed,
    hash(request.body),
  ].join('\n');
  const toSign = [ALGORITHM, stamp, scope, hash(canonical)].join('\n');

  const key = scope
    .split('/')
    .reduce<string | Uint8Array>((k, part) => hmac(sha256, k, part), `AWS4${credentials.secret}`);
  const signature = bytesToHex(hmac(sha256, key, toSign));
  return {
    'x-amz-date': stamp,
    authorization: `${ALGORITHM} Credential=${credentials.accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}

const escape = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Escaped twice, as for every service but S3: what is on the wire is escaped again. */
const canonicalPath = (path: string) => path.split('/').map(escape).join('/');

function canonicalQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${escape(name)}=${escape(value)}`);
  return pairs.sort().join('&');
}
