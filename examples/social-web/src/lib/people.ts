// How people are called today, and their pictures: what lists show beside the user names that posts and edges keep.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { api, session } from './session';

export interface Person {
  name?: string | undefined;
  image?: string | undefined;
}

const people = new Map<string, Person>();
const listeners = new Set<() => void>();

session.listen(() => people.clear()); // what one may see of others depends on who one is

export function notePerson(id: string | undefined, person: Person): void {
  if (!id) return;
  const known = people.get(id);
  people.set(id, person);
  if (known?.name !== person.name || known?.image !== person.image) listeners.forEach((listener) => listener());
}

async function ask(id: string): Promise<void> {
  people.set(id, {}); // once
  const { display_name, profile_image_url } = await api.getUser({ user_id: id });
  notePerson(id, { name: display_name, image: profile_image_url });
}

/** `asks`: a person that no list has shown yet is asked for. */
export function usePerson(id: string | undefined, asks = false): Person {
  const [, draw] = useState(0);
  useEffect(() => {
    const again = () => draw((n) => n + 1);
    listeners.add(again);
    if (asks && id && !people.has(id)) void ask(id).catch(() => undefined); // the user name will do
    return () => void listeners.delete(again);
  }, [id]);
  return (id && people.get(id)) || {};
}
