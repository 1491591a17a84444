// Files to upload, and how clients upload them.
// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';

export const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
export const MP4 = Buffer.from('\0\0\0\x18ftypmp42', 'latin1');

/** Bytes that begin as a PNG does. */
export const png = (size) => Buffer.concat([PNG, randomBytes(size - PNG.length)]);
export const mp4 = (size) => Buffer.concat([MP4, randomBytes(size - MP4.length)]);

/** Sends the bytes where the slot says. */
export const upload = (origin, slot, bytes, headers = {}) =>
  fetch(new URL(slot.upload.url, origin), { method: slot.upload.method, headers: { ...slot.upload.headers, ...headers }, body: bytes });

/** The ids of the files in a directory, without what is being uploaded. */
export const filesIn = (directory) => (existsSync(directory) ? readdirSync(directory, { recursive: true }).map((path) => path.split('/'))
  .filter((parts) => parts.length === 3).map((parts) => parts[2]) : []);
export const uploadsIn = (directory) => readdirSync(`${directory}/.uploads`);
