// Example values for a pattern's parameters, read from the keys of existing items. SPDX-License-Identifier:
// Apache-2.0
import { dynamo } from './client';
import { matchTemplate, parseTemplate, prefixOf } from './templates';
import type { AccessPattern, AttributeValue, Design, Item, Parameter, TemplatePart } from './types';
import { keyText } from './values';

export interface Examples {
  values: Record<string, string>;
  /** The caller to use: the pattern's own key contains `caller`. */
  subject?: string;
}

interface Condition {
  attribute: string;
  parts: TemplatePart[];
  prefix: boolean;
}

/** Pages of 100 items searched for an example; a large table has one among its first. */
const PAGES = 4;

/** The first request of a pattern, of its words: "GSI1PK = USER#<user_id>, begins_with(GSI1SK, POST#)". */
export function keyConditions(request: string): Condition[] {
  const first = /(?:Query|GetItem|BatchGetItem)\b.*/s.exec(request)?.[0] ?? '';
  const own = first.split(/;| · |\): | for each /)[0]!;
  return [...own.matchAll(/begins_with\(([\w.-]+), ([^)]+)\)|([\w.-]+) = ([^,]+?)(?= \(if given\)|,|$)/g)]
    .filter((found) => !own.startsWith(' (if given)', found.index! + found[0].length))
    .map(([, prefixed, prefix, attribute, value]) => ({
      attribute: (prefixed ?? attribute)!,
      parts: parseTemplate((prefix ?? value)!.trim()),
      prefix: prefixed !== undefined,
    }));
}

/** The values of the placeholders in this key; null: it does not match. */
function valuesOf(condition: Condition, value: AttributeValue | undefined): Record<string, string> | null {
  const text = keyText(value);
  if (text === null) return null;
  const parts = condition.prefix ? [...condition.parts, { name: '*' }] : condition.parts;
  // A prefix may be the whole key.
  const pieces = matchTemplate(parts, text) ?? (condition.prefix ? matchLoosely(condition.parts, text) : null);
  return (
    pieces &&
    Object.fromEntries(pieces.flatMap((piece) => (piece.name && piece.name !== '*' ? [[piece.name, piece.text]] : [])))
  );
}

/** Matches only the beginning of a key. */
function matchLoosely(parts: TemplatePart[], text: string): { text: string; name?: string }[] | null {
  const pattern = parts
    .map((part) => ('text' in part ? part.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '([^#]+)'))
    .join('');
  const found = new RegExp(`^${pattern}`).exec(text);
  const names = parts.flatMap((part) => ('text' in part ? [] : [part.name]));
  return found && names.map((name, at) => ({ name, text: found[at + 1]! }));
}

/** The scan that finds items for these conditions: of their own index, where others are not. */
function scanFor(design: Design, index: string | null, conditions: Condition[], from?: Item): object {
  const prefixed = conditions.filter((condition) => prefixOf(condition.parts));
  const names = Object.fromEntries(prefixed.map((condition, at) => [`#${at}`, condition.attribute]));
  const values = Object.fromEntries(prefixed.map((condition, at) => [`:${at}`, { S: prefixOf(condition.parts) }]));
  return {
    TableName: design.table,
    IndexName: index ?? undefined,
    Limit: 100,
    ExclusiveStartKey: from,
    ...(prefixed.length
      ? {
          FilterExpression: prefixed.map((_, at) => `begins_with(#${at}, :${at})`).join(' AND '),
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: values,
        }
      : {}),
  };
}

interface Found {
  values: Record<string, string>;
  item: Item;
  times: number;
  special: boolean;
}

/** Keys that another pattern names as they are ("PARENT#ROOT"): no ordinary value of a placeholder. */
const namedKeys = (design: Design): Set<string> =>
  new Set(
    design.access.flatMap((pattern) =>
      keyConditions(pattern.request)
        .filter((condition) => condition.parts.every((part) => 'text' in part))
        .map((condition) => prefixOf(condition.parts)),
    ),
  );

/** The partition with the most items among the first that match: it has something to show. */
async function richest(
  design: Design,
  index: string | null,
  conditions: Condition[],
  signal?: AbortSignal,
): Promise<Found | null> {
  const found = new Map<string, Found>();
  const named = namedKeys(design);
  const open = conditions.filter((condition) => condition.parts.some((part) => 'name' in part));
  const isSpecial = (item: Item) => open.some((condition) => named.has(keyText(item[condition.attribute]) ?? ''));
  let from: Item | undefined;
  for (let page = 0; page < PAGES && found.size === 0; page++) {
    const reply = await dynamo<{ Items: Item[]; LastEvaluatedKey?: Item }>(
      'Scan',
      scanFor(design, index, conditions, from),
      { signal },
    );
    for (const item of reply.Items) {
      const read = conditions.map((condition) => valuesOf(condition, item[condition.attribute]));
      if (read.includes(null)) continue;
      const values = Object.assign({}, ...read) as Record<string, string>;
      const key = JSON.stringify(values);
      const one = found.get(key) ?? { values, item, times: 0, special: isSpecial(item) };
      one.times++;
      found.set(key, one);
    }
    from = reply.LastEvaluatedKey;
    if (!from) break;
  }
  return [...found.values()].sort((a, b) => Number(a.special) - Number(b.special) || b.times - a.times)[0] ?? null;
}

/** "for each Like(id, caller)": which value of the key is the id, and which the caller. */
function batchArguments(design: Design, pattern: AccessPattern, values: Record<string, string>): Examples {
  const found = /for each (\w+)\(([^)]*)\)/.exec(pattern.request);
  const entity = found && design.entities.find((one) => one.name === found[1]);
  if (!entity) return { values: {} };
  const args = found[2]!.split(',').map((arg) => arg.trim());
  const at = (arg: string) =>
    entity.params
      .map((param, place) => [args[place] ?? 'id', values[param]] as const)
      .filter(([name, value]) => name === arg && value !== undefined)
      .map(([, value]) => value!);
  return { values: { id: at('id').join('/') }, subject: at('caller')[0] };
}

/** An example for a value that is in no key. */
function otherwise(parameter: Parameter, items: Item[]): string | undefined {
  if (parameter.choices?.length) return parameter.choices[0];
  for (const item of items) {
    const value = item[parameter.name] && keyText(item[parameter.name]);
    if (value) return value;
  }
  if (parameter.type === 'date') return new Date().toISOString().slice(0, 10);
  if (parameter.type === 'timestamp ms') return new Date().toISOString();
  if (parameter.type === 'timestamp') return new Date().toISOString().slice(0, 19) + 'Z';
  if (/^(integer|number)/.test(parameter.type)) return '1';
  return undefined;
}

const wanted = (parameter: Parameter) => parameter.required || parameter.in === 'path';

/** Examples for a first run. Leaves optional parameters empty. */
export async function examplesFor(design: Design, pattern: AccessPattern, signal?: AbortSignal): Promise<Examples> {
  const conditions = keyConditions(pattern.request);
  const needed = pattern.params.filter(wanted);
  if (needed.length === 0 && pattern.kind !== 'batch') return { values: {} };
  const index = /Query (?!the table)([\w.-]+):/.exec(pattern.request)?.[1] ?? null;
  const best = conditions.length ? await richest(design, index, conditions, signal) : null;
  if (pattern.kind === 'batch') return best ? batchArguments(design, pattern, best.values) : { values: {} };
  // "for each word in words(input.q)": one word of the text is an example of it.
  const words = /for each \w+ in words\(input\.(\w+)\)/.exec(pattern.request)?.[1];
  if (words && best) best.values[words] ??= Object.values(best.values)[0]!;
  const missing = needed.filter((parameter) => best?.values[parameter.name] === undefined);
  const items = best ? [best.item] : [];
  if (missing.length && !best)
    items.push(...(await dynamo<{ Items: Item[] }>('Scan', { TableName: design.table, Limit: 100 }, { signal })).Items);
  const values = Object.fromEntries(
    needed.map((parameter) => [parameter.name, best?.values[parameter.name] ?? otherwise(parameter, items) ?? '']),
  );
  return { values };
}
