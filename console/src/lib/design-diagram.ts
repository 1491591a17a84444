// The layout of the diagram: the table on the left, the entities in the middle, the indexes on the right.
// SPDX-License-Identifier: Apache-2.0
import { collectionsOf, placesOf, type Entry, type Place } from './design-chart';
import type { Design } from './types';

export interface EntryBox {
  entry: Entry;
  y: number;
}
export interface CollectionBox {
  template: string;
  y: number;
  entries: EntryBox[];
}
export interface PlaceBox {
  place: Place;
  title: string;
  keys: string;
  x: number;
  y: number;
  height: number;
  collections: CollectionBox[];
}
export interface NodeBox {
  name: string;
  index: number;
  x: number;
  y: number;
}
export interface Link {
  entity: string;
  index: number;
  from: [number, number];
  to: [number, number];
  companion: boolean;
}
export interface Layout {
  width: number;
  height: number;
  places: PlaceBox[];
  nodes: NodeBox[];
  links: Link[];
}

export const BOX = 372,
  NODE = 150,
  NODE_HEIGHT = 30,
  ROW = 20,
  HEAD = 34;
const GAP = 96,
  COLLECTION = 24,
  PAD = 10,
  BETWEEN = 18;

function placeBox(design: Design, place: Place, x: number, y: number): PlaceBox {
  let at = y + HEAD + 4;
  const collections = collectionsOf(design, place).map((collection) => {
    const box: CollectionBox = { template: collection.hash.template, y: at, entries: [] };
    at += COLLECTION;
    for (const entry of collection.entries) {
      box.entries.push({ entry, y: at });
      at += ROW;
    }
    at += 6;
    return box;
  });
  const keys = place.range ? `${place.hash} · ${place.range}` : place.hash;
  return { place, title: place.index ?? 'Table', keys, x, y, height: at - y + PAD - 4, collections };
}

/** The middle of an entity's links, so that lines are short. */
function order(design: Design, places: PlaceBox[]): string[] {
  const middle = (name: string) => {
    const ys = places.flatMap((place) =>
      place.collections.flatMap((one) =>
        one.entries.filter(({ entry }) => entry.kind.entity.name === name).map(({ y }) => y),
      ),
    );
    return ys.length ? ys.reduce((sum, y) => sum + y, 0) / ys.length : Infinity;
  };
  return design.entities.map((entity) => entity.name).sort((a, b) => middle(a) - middle(b));
}

export function layout(design: Design): Layout {
  const nodeX = BOX + GAP,
    rightX = nodeX + NODE + GAP;
  const [table, ...indexes] = placesOf(design);
  const places = [placeBox(design, table!, 0, 0)];
  let y = 0;
  for (const index of indexes) {
    const box = placeBox(design, index, rightX, y);
    places.push(box);
    y += box.height + BETWEEN;
  }
  const height = Math.max(places[0]!.height, y - BETWEEN, design.entities.length * (NODE_HEIGHT + 10));
  const step = height / design.entities.length;
  const nodes = order(design, places).map((name, at) => ({
    name,
    index: design.entities.findIndex((entity) => entity.name === name),
    x: nodeX,
    y: at * step + (step - NODE_HEIGHT) / 2,
  }));
  return { width: rightX + BOX, height, places, nodes, links: linksOf(places, nodes) };
}

function linksOf(places: PlaceBox[], nodes: NodeBox[]): Link[] {
  const nodeOf = new Map(nodes.map((node) => [node.name, node]));
  return places.flatMap((place) =>
    place.collections.flatMap((collection) =>
      collection.entries.map(({ entry, y }) => {
        const node = nodeOf.get(entry.kind.entity.name)!;
        const left = place.x < node.x;
        return {
          entity: node.name,
          index: node.index,
          companion: entry.kind.companion !== null,
          from: [left ? node.x : node.x + NODE, node.y + NODE_HEIGHT / 2] as [number, number],
          to: [left ? place.x + BOX : place.x, y + ROW / 2] as [number, number],
        };
      }),
    ),
  );
}
