// Files of items: what an attribute may hold, and sending one to where the server says (docs/rest-api.md, Files).
// SPDX-License-Identifier: Apache-2.0
import { ApiError, rest } from './client';
import { isObject, parseJson } from './exact-json';
import { restPath } from './entity-form';
import { parseTemplate } from './templates';
import type { Attribute, Entity, FileRule } from './types';

/** A file as reads show it, or as it has just been uploaded. */
export interface FileValue {
  file: string;
  type: string;
  size: number;
  name?: string;
  /** Only of what a read has shown. */
  url?: string;
}

export const fileRule = (attribute: Attribute): FileRule | undefined => attribute.file ?? attribute.each?.file;

/** How many files the attribute takes. */
export function mostFiles(attribute: Attribute): number {
  if (attribute.file) return 1;
  const range = attribute.flags.map((flag) => /^\d*\.\.(\d+)$/.exec(flag)).find(Boolean);
  return range ? Number(range[1]) : Infinity;
}

/** The files of a field's text; what is not one is left out. */
export function filesOf(text: string): FileValue[] {
  if (text === '') return [];
  const value = parseJson(text);
  return (Array.isArray(value) ? value : [value]).filter(
    (one) => isObject(one) && typeof one['file'] === 'string',
  ) as unknown as FileValue[];
}

/** Where to ask for an upload to an item that will be made: null while a part of the address is missing. */
export function newFilesPath(entity: Entity, values: (name: string) => string | undefined): string | null {
  const segments = entity.path.split('/');
  while (segments.length && segments.at(-1)!.includes('<')) segments.pop();
  return restPath(parseTemplate(segments.join('/')), values);
}

const matches = (rule: FileRule, type: string) =>
  rule.types.length === 0 ||
  rule.types.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))));

const size = (n: number) => {
  const unit =
    n >= 2 ** 30 ? ([2 ** 30, 'GB'] as const) : n >= 2 ** 20 ? ([2 ** 20, 'MB'] as const) : ([1024, 'KB'] as const);
  return `${Number((n / unit[0]).toFixed(1))} ${unit[1]}`;
};

/** Why the file does not fit; null: it does, as far as can be seen from here. */
export function unfit(rule: FileRule, file: File): string | null {
  const type = file.type || 'application/octet-stream';
  if (!matches(rule, type)) return `${file.name} is ${type}; this takes ${rule.types.join(', ')}.`;
  if (file.size === 0) return `${file.name} is empty.`;
  if (file.size > rule.most) return `${file.name} has ${size(file.size)}; this takes at most ${size(rule.most)}.`;
  return null;
}

interface Slot {
  file: string;
  upload: { method: string; url: string; headers: Record<string, string> };
}

/** fetch() tells nothing of what has been sent, so this is an XMLHttpRequest. 412: an earlier try got through. */
function send({ upload }: Slot, file: Blob, onProgress: (part: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (status: number, message: string) => reject(new ApiError(status, 'upload', message, null));
    request.open(upload.method, upload.url);
    for (const [name, value] of Object.entries(upload.headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onload = () => {
      if (request.status < 300 || request.status === 412) resolve();
      else if (request.status === 415) fail(415, 'The file does not begin as files of its type do.');
      else if (request.status === 507) fail(507, 'The server has no room for this file.');
      else fail(request.status, `The file was refused with status ${request.status}.`);
    };
    request.onerror = () => fail(0, 'The file was not uploaded: the connection was lost. Choose it again.');
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'));
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

export interface Upload {
  design: string;
  /** Of the item or of its collection, with /files/<attribute>. */
  path: string;
  file: File;
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

/** Asks for an upload, and sends the file. It has an hour to be written into the item. */
export async function uploadFile({ design, path, file, onProgress, signal }: Upload): Promise<FileValue> {
  const type = file.type || 'application/octet-stream';
  const about = { type, size: file.size, ...(file.name ? { name: file.name.slice(-200) } : {}) };
  const { body } = await rest<Slot>(design, 'POST', path, { body: about, signal });
  await send(body, file, onProgress, signal);
  return { file: body.file, ...about };
}

/** As a data: URL, which the page's policy allows; null: it is none that can be shown, or too large to be worth it. */
export function previewOf(file: File): Promise<string | null> {
  if (!/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(file.type) || file.size > 8 * 2 ** 20) return Promise.resolve(null);
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => resolve(null);
    reader.readAsDataURL(file);
  });
}
