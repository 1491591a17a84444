// A bucket with as much of S3 as clients of files need, which trusts no signature of ours: it computes each one from the
// specification of Signature Version 4 for query strings.
//
//   const s3 = await startS3({ bucket: 'pictures', keys: { id: secret } });      // or a function of the id
//   s3.endpoint, s3.objects (key → {type, bytes}), s3.requests ([{method, key, status}])
//
// SPDX-License-Identifier: Apache-2.0
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const hmac = (key, text) => createHmac('sha256', key).update(text).digest();
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
/** RFC 3986: all but letters, digits and -_.~ */
const uri = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Why the request is refused; undefined: it is not. */
function refusal(request, url, keys, region) {
  const q = url.searchParams;
  if (q.get('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') return 'AccessDenied';
  const [id, day, where, service, end] = q.get('X-Amz-Credential').split('/');
  const date = q.get('X-Amz-Date');
  const secret = typeof keys === 'function' ? keys(id) : keys[id];
  if (!secret) return 'InvalidAccessKeyId';
  if (where !== region || service !== 's3' || end !== 'aws4_request' || !date.startsWith(day)) return 'AuthorizationQueryParametersError';
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  const from = Date.UTC(y, mo - 1, d, h, mi, s);
  if (Date.now() > from + 1000 * q.get('X-Amz-Expires') || from > Date.now() + 900_000) return 'AccessDenied';
  const signed = q.get('X-Amz-SignedHeaders').split(';');
  if (!signed.includes('host') || signed.some((name, i) => i && signed[i - 1] >= name)) return 'AccessDenied';
  const parameters = [...q].filter(([name]) => name !== 'X-Amz-Signature').map(([name, value]) => `${uri(name)}=${uri(value)}`).sort().join('&');
  const canonical = [request.method, url.pathname.split('/').map((part) => uri(decodeURIComponent(part))).join('/'), parameters,
    ...signed.map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}`), '', signed.join(';'), 'UNSIGNED-PAYLOAD'].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${secret}`, day), region));
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n')).toString('hex');
  const given = q.get('X-Amz-Signature') ?? '';
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected)) ? undefined : 'SignatureDoesNotMatch';
}

const bodyOf = async (request) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
};

export async function startS3({ bucket, keys, region = 'us-east-1' }) {
  const objects = new Map();
  const requests = [];
  const s3 = { objects, requests, fails: 0 };
  const answer = (request, url, key, bytes) => {
    const why = refusal(request, url, keys, region);
    if (why) return { status: 403, text: why };
    if (s3.fails > 0) {
      s3.fails -= 1;
      return { status: 503, text: 'SlowDown' };
    }
    const object = objects.get(key);
    if (request.method === 'PUT') {
      if (object && request.headers['if-none-match'] === '*') return { status: 412, text: 'PreconditionFailed' };
      objects.set(key, { type: request.headers['content-type'], bytes });
      return { status: 200, headers: { etag: `"${createHash('md5').update(bytes).digest('hex')}"` } };
    }
    if (request.method === 'DELETE') return objects.delete(key), { status: 204 };
    if (!object) return { status: 404, text: 'NoSuchKey' };
    const headers = { 'content-type': url.searchParams.get('response-content-type') ?? object.type };
    for (const name of ['content-disposition', 'cache-control']) if (url.searchParams.has(`response-${name}`)) headers[name] = url.searchParams.get(`response-${name}`);
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (!range) return { status: 200, headers, bytes: object.bytes };
    const part = object.bytes.subarray(Number(range[1]), Number(range[2]) + 1);
    return { status: 206, bytes: part, headers: { ...headers, 'content-range': `bytes ${range[1]}-${Number(range[1]) + part.length - 1}/${object.bytes.length}` } };
  };
  const server = createServer(async (request, reply) => {
    const url = new URL(request.url, `http://${request.headers.host}`);
    const prefix = `/${bucket}/`;
    const key = decodeURIComponent(url.pathname.slice(prefix.length));
    const bytes = await bodyOf(request).catch(() => Buffer.alloc(0));
    const { status, text = '', headers = {}, bytes: out } = url.pathname.startsWith(prefix) ? answer(request, url, key, bytes) : { status: 404, text: 'NoSuchBucket' };
    requests.push({ method: request.method, key, status });
    reply.writeHead(status, text ? { 'content-type': 'application/xml' } : headers);
    reply.end(out ?? (text && `<Error><Code>${text}</Code></Error>`));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  s3.endpoint = `http://127.0.0.1:${server.address().port}`;
  s3.stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return s3;
}
