// What went wrong, in words for the person in front of the page.
// SPDX-License-Identifier: Apache-2.0
import {
  AlreadyExistsError,
  ApiError,
  ConflictError,
  ForbiddenError,
  InvalidError,
  NotFoundError,
  TakenError,
  TooManyAttemptsError,
  UnauthenticatedError,
  UnavailableError,
} from '../generated/social';

const NAMES: Record<string, string> = {
  username: 'user name',
  email: 'e-mail address',
  password: 'password',
  display_name: 'name',
  bio: 'description',
  profile_image_url: 'picture address',
  media_urls: 'picture address',
  picture: 'picture',
  content: 'text',
};

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const nameOf = (attribute: string) => NAMES[attribute.replace(/[[.].*$/, '')] ?? attribute.replaceAll('_', ' ');

/** The sentence for a whole form or page. */
export function sentenceOf(error: unknown): string {
  if (error instanceof UnavailableError)
    return error.problem.outcome === 'unknown'
      ? 'The server did not answer, so this may or may not have been saved. Look again in a moment.'
      : 'The server cannot be reached right now. Nothing was changed; please try again.';
  if (error instanceof TakenError) return `This ${nameOf(error.attribute ?? 'value')} is taken. Please choose another.`;
  if (error instanceof AlreadyExistsError) return 'This exists already.';
  if (error instanceof TooManyAttemptsError)
    return `Too many failed attempts. Please wait ${waitOf(error.retryAfter)} and try again.`;
  if (error instanceof UnauthenticatedError) return 'Please log in first.';
  if (error instanceof ForbiddenError) return 'You are not allowed to do this.';
  if (error instanceof NotFoundError) return 'This is gone, or it is not for you to see.';
  if (error instanceof InvalidError)
    return error.errors.length ? 'Please correct what is marked.' : `${capital(error.message)}.`;
  if (error instanceof ConflictError) return `${capital(error.message)}.`;
  if (error instanceof ApiError) return `${capital(error.message)}.`;
  return 'Something went wrong in this page. Reload it, and please report what you did.';
}

function waitOf(seconds: number | undefined): string {
  if (!seconds) return 'a moment';
  return seconds < 90 ? `${Math.ceil(seconds)} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

/** Attribute → what is wrong with it. Empty: the whole request is wrong, or none of it. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (error instanceof TakenError && error.attribute) return { [error.attribute]: sentenceOf(error) };
  if (!(error instanceof InvalidError)) return {};
  const found: Record<string, string> = {};
  for (const { attribute, detail } of error.errors)
    if (attribute) found[attribute.replace(/[[.].*$/, '')] ??= `${capital(detail.replace('bytes', 'characters'))}.`;
  return found;
}
