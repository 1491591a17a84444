// Pictures from the device: what may be uploaded, and what to say of what may not.
// SPDX-License-Identifier: Apache-2.0
import { ApiError, UnavailableError } from '../generated/social';
import { fieldErrors, sentenceOf } from './errors';

// As the design has it; the server checks again.
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'];
export const PICTURE_MOST_MB = 5;

/** A file that need not be sent: the server would refuse it. */
export class UnfitFile extends Error {}

export function checkPicture(file: File): void {
  if (!PICTURE_TYPES.includes(file.type))
    throw new UnfitFile(`${file.name} is no picture that can be shown here: choose a JPEG, PNG, WebP or GIF.`);
  if (file.size === 0) throw new UnfitFile(`${file.name} is empty.`);
  if (file.size > PICTURE_MOST_MB * 1024 * 1024)
    throw new UnfitFile(
      `${file.name} has ${(file.size / 1024 / 1024).toFixed(1)} MB. A picture may have ${PICTURE_MOST_MB} MB.`,
    );
}

/** Why a picture was not uploaded. */
export function uploadSentence(error: unknown): string {
  if (error instanceof UnfitFile) return error.message;
  if (error instanceof UnavailableError) return 'The picture was not uploaded. Please choose it again.';
  if (error instanceof ApiError && error.status === 429)
    return 'Your pictures have all the room there is for one person. Delete some of them first.';
  if (error instanceof ApiError && error.status === 415) return 'This file is damaged, or is not what its name says.';
  return Object.values(fieldErrors(error))[0] ?? sentenceOf(error);
}

/** Shown before the post is there. Not a blob: URL, which the page's policy does not allow. */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new UnfitFile('This file cannot be read.'));
    reader.readAsDataURL(file);
  });
}
