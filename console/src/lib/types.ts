// The server's documents for the console: src/console/ writes them, this code reads them. SPDX-License-Identifier:
// Apache-2.0

// ---------------------------------------------------------------- GET /console/api/session

/** The server's identity. Fetched first; 403 if the server has keys and the request is not signed. */
export interface Session {
  version: string;
  /** Whether requests must be signed (`--keys`). */
  auth: 'none' | 'keys';
  region: string;
  /** Where SDKs should be pointed: "http://127.0.0.1:8000", as this browser reached it. */
  endpoint: string;
  durability: 'synced' | 'relaxed' | 'memory';
  designs: SessionDesign[];
}

export interface SessionDesign {
  name: string;
  title: string;
  table: string;
  /** "/api/social" */
  base: string;
  /** An operator's token for its REST API, and when it ends (milliseconds since 1970). */
  token: string;
  expires_at: number;
}

// ---------------------------------------------------------------- GET /console/api/stats

/** Counters only grow; rates are made here, from two of them. */
export interface Stats {
  now_ms: number;
  uptime_ms: number;
  memory_bytes: number;
  disk_bytes: number;
  connections: number;
  write_queue: number;
  /** "ok", or a sentence: the disk is full, writes are refused… */
  health: string;
  tables: TableStats[];
  processors: ProcessorStats[];
}

export interface TableStats {
  name: string;
  items: number;
  bytes: number;
  /** Items requested and items written since the server started, by any client. */
  reads: number;
  writes: number;
  indexes: number;
  stream: boolean;
  /** The design it belongs to; null: none. */
  design: string | null;
}

export interface ProcessorStats {
  design: string;
  name: string;
  lag_ms: number;
  backlog: number;
  parked: number;
  paused: boolean;
}

// ---------------------------------------------------------------- GET /console/api/designs/<name>

export interface Design {
  name: string;
  title: string;
  table: string;
  /** The file as it was loaded, and its name. */
  file: string;
  source: string;
  key: KeyNames;
  indexes: DesignIndex[];
  /** Attribute of the time to live; null: none. */
  ttl: string | null;
  /** "NEW_AND_OLD_IMAGES"…; null: no stream. */
  stream: string | null;
  roles: string[];
  /** Declared claims of tokens, as `caller.tenant`. */
  claims: string[];
  entities: Entity[];
  access: AccessPattern[];
  processors: Processor[];
  findings: Finding[];
}

export interface KeyNames {
  hash: string;
  /** null: there is none */
  range: string | null;
}

export interface DesignIndex extends KeyNames {
  name: string;
  line: number;
  projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
  include: string[];
}

/** A piece of a template: literal text, or a placeholder. */
export type TemplatePart = { text: string } | { name: string; format?: string };

/** One computed attribute: PK = USER#<user_id>, perhaps under a condition. */
export interface KeyRule {
  attribute: string;
  template: string;
  parts: TemplatePart[];
  /** The condition as the design has it; absent: always. */
  when?: string;
  line: number;
}

export interface Attribute {
  name: string;
  /** "string", "integer", "list of string"… */
  type: string;
  choices?: string[];
  /** "required", "id", "counter", "hidden", "unique", "fixed", "managed", "derived", "copy"… */
  flags: string[];
  /** Where its value comes from, as in the design: "= likes_count + 2 * comments_count", "copy of
   * User(author_id).name". */
  from?: string;
  /** Of a reference, or a list of them: the entity, and the attributes that are its identity; one is this. */
  refers?: EntityReference;
  /** Of a structure, in the order of the design. */
  members?: Attribute[];
  /** A structure may have others, of any type. */
  open?: boolean;
  /** Of a list or map: what each value is, if it has a structure. */
  each?: Attribute;
  /** Of a file. */
  file?: FileRule;
  line: number;
}

export interface FileRule {
  /** "image/png", "image/*"; empty: any */
  types: string[];
  /** bytes */
  most: number;
}

export interface Companion {
  name: string;
  /** The attribute whose uniqueness it guards. */
  unique?: string;
  /** "tag in tags": there is one for each. */
  each?: string;
  when?: string;
  keys: KeyRule[];
  line: number;
}

/** Attributes of an item that together name another item: {entity: "User", args: ["followed_id"]}. */
export interface EntityReference {
  entity: string;
  args: string[];
}

export interface Entity {
  name: string;
  line: number;
  /** "/users/<user_id>", its parts, and the names in it: the identity. */
  path: string;
  path_parts: TemplatePart[];
  params: string[];
  /** Written by companions and processors only: no routes of its own. */
  internal: boolean;
  /** Attribute that If-Match compares; null: the ETag alone. */
  version: string | null;
  attributes: Attribute[];
  keys: KeyRule[];
  companions: Companion[];
  references: EntityReference[];
  /** "User(user_id).posts_count", with its condition. */
  counts: string[];
  /** "created: Put Membership if not there": what is written in the same transaction. */
  also: string[];
  /** Permissions; absent: operators only. */
  allow: Partial<Record<'create' | 'read' | 'update' | 'delete' | 'list', string>>;
  actions: {
    name: string;
    input: string[];
    /** Of the input: lists that the number of an element is given for. */
    removes_at?: string[];
    when?: string;
    line: number;
  }[];
  /** What a delete does: "deletes the item", "sets status to deleted"… */
  deletes: string;
  /** What follows when its identity changes: "then moves issues of repo"; empty: nothing. */
  renames: string;
  routes: { method: string; path: string; does: string; request: string }[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: string;
  choices?: string[];
  required: boolean;
}

export interface AccessPattern {
  name: string;
  /** Of the requirements list: "S-A02". */
  ids: string[];
  /** null: no route; for the runtime itself. */
  path: string | null;
  kind: 'get' | 'query' | 'merge' | 'batch';
  /** The entity it returns; null: derived from the keys. */
  entity: string | null;
  /** Of a query; null: the table. */
  index: string | null;
  params: Parameter[];
  /** The request in words: "Query GSI1: GSI1PK = USER#<user_id>, newest first". */
  request: string;
  /** Whether it gives a list, which can be paged (limit, cursor) and watched. */
  list: boolean;
  operators_only: boolean;
  line: number;
}

export interface Processor {
  name: string;
  entity: string;
  /** "created", "updated", "deleted" */
  events: string[];
  /** "day at 03:00", instead of an entity and its events. */
  every: string | null;
  when?: string;
  /** "puts FeedItem for each row of followers" */
  does: string;
  line: number;
}

/** Of `thorpe check`. */
export interface Finding {
  severity: 'error' | 'warning' | 'note';
  rule: string;
  line: number;
  column: number;
  /** The entity, access pattern, index or processor it is about, where one is known: "Post", "user posts". */
  subject: string | null;
  message: string;
  repair: string | null;
  /** Why the design accepts it; null: it does not. */
  accepted: string | null;
}

// ---------------------------------------------------------------- GET, POST /console/api/verify/<name>

/** A contradiction between items of a design: docs/verify.md has the kinds. */
export interface VerifyFinding {
  kind: string;
  severity: 'difference' | 'pending' | 'note';
  entity?: string;
  /** DynamoDB's JSON. */
  key?: Record<string, Record<string, string>>;
  attribute?: string;
  sentence: string;
}

/** The oracle's findings so far. */
export interface Verification {
  state: 'never' | 'running' | 'done' | 'failed';
  began_at?: number;
  ended_at?: number;
  items?: number;
  /** running: the approximate total */
  of?: number;
  /** running: from 1; later passes check findings again, because items may change meanwhile */
  pass?: number;
  comparing?: boolean;
  /** done, failed: how many findings of each weight */
  differences?: number;
  pending?: number;
  notes?: number;
  moved?: number;
  why?: string;
  kinds: Record<string, number>;
  /** The first of them. */
  findings: VerifyFinding[];
}

// ---------------------------------------------------------------- POST /api/<design>/call

/** The result of an access pattern, and its requests. */
export interface CallResult {
  result: unknown;
  requests: CallRequest[];
}

export interface CallRequest {
  operation: string;
  request: Record<string, unknown>;
  read_units: number;
  write_units: number;
  items: number;
  us: number;
}

// ---------------------------------------------------------------- DynamoDB's own

export type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] }
  | { L: AttributeValue[] }
  | { M: Item };
export type Item = { [name: string]: AttributeValue };

export interface TableDescription {
  TableName: string;
  TableStatus: string;
  TableArn: string;
  ItemCount: number;
  TableSizeBytes: number;
  KeySchema: { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[];
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  GlobalSecondaryIndexes?: IndexDescription[];
  LocalSecondaryIndexes?: IndexDescription[];
  StreamSpecification?: { StreamEnabled: boolean; StreamViewType?: string };
  LatestStreamArn?: string;
}

export interface IndexDescription {
  IndexName: string;
  KeySchema: { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[];
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] };
  IndexStatus?: string;
  ItemCount: number;
  IndexSizeBytes: number;
}
