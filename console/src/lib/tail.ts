// Follows a table's stream by the Streams API: all of its shards, from now on or from the oldest change there is.
// SPDX-License-Identifier: Apache-2.0
import { ApiError, dynamo } from './client';
import type { Item } from './types';

export type EventName = 'INSERT' | 'MODIFY' | 'REMOVE';
export type Start = 'LATEST' | 'TRIM_HORIZON';

export interface Change {
  /** The sequence number: its place in the stream. */
  id: string;
  at: number;
  event: EventName;
  keys: Item;
  /** undefined: there was none, or the stream does not have it. */
  old?: Item;
  new?: Item;
  /** Removed by time to live. */
  expired: boolean;
}

interface StreamRecord {
  eventName: EventName;
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: Item;
    OldImage?: Item;
    NewImage?: Item;
    SequenceNumber: string;
  };
  userIdentity?: { Type?: string; PrincipalId?: string; type?: string; principalId?: string };
}

interface Shard {
  ShardId: string;
  ParentShardId?: string;
}

interface Position {
  shard: string;
  iterator: string | null;
  /** The last change seen: where to continue if the iterator has expired. */
  last: string | null;
}

const PAGE = 100;

const changeOf = ({ eventName, dynamodb: d, userIdentity: user }: StreamRecord): Change => ({
  id: d.SequenceNumber,
  at: d.ApproximateCreationDateTime * 1000,
  event: eventName,
  keys: d.Keys,
  old: d.OldImage,
  new: d.NewImage,
  expired:
    (user?.Type ?? user?.type) === 'Service' && (user?.PrincipalId ?? user?.principalId) === 'dynamodb.amazonaws.com',
});

/** Newest first. Sequence numbers are long: compared as text of the same length. */
export const newestFirst = (a: Change, b: Change): number =>
  b.at - a.at || (b.id.padStart(40, '0') < a.id.padStart(40, '0') ? -1 : 1);

export class Tail {
  private positions = new Map<string, Position>();
  private started = false;
  /** Whether the last read() found nothing more in any shard. */
  caughtUp = false;

  constructor(
    private arn: string,
    private start: Start,
  ) {}

  /** The changes since the last call, in no order; at most `most`, but at least one of each shard that has one. */
  async read(signal: AbortSignal, most = Infinity): Promise<Change[]> {
    if (!this.started || [...this.positions.values()].some((position) => !position.iterator))
      await this.findShards(signal);
    const open = [...this.positions.values()].filter((position) => position.iterator);
    const limit = Math.max(1, Math.min(PAGE, Math.floor(most / Math.max(1, open.length))));
    const pages = await Promise.all(open.map((position) => this.readShard(position, limit, signal)));
    this.caughtUp = pages.every((page) => page.length === 0);
    return pages.flat();
  }

  /** Shards that are new begin with their oldest change: whatever is in them came after the tail began. */
  private async findShards(signal: AbortSignal): Promise<void> {
    const { StreamDescription: stream } = await dynamo<{ StreamDescription: { Shards: Shard[] } }>(
      'DescribeStream',
      { StreamArn: this.arn },
      { signal },
    );
    const present = new Set(stream.Shards.map((shard) => shard.ShardId));
    for (const shard of this.positions.keys()) if (!present.has(shard)) this.positions.delete(shard);
    await Promise.all(
      stream.Shards.filter((shard) => !this.positions.has(shard.ShardId)).map(async (shard) => {
        const iterator = await this.iterator(shard.ShardId, this.started ? 'TRIM_HORIZON' : this.start, null, signal);
        this.positions.set(shard.ShardId, { shard: shard.ShardId, iterator, last: null });
      }),
    );
    this.started = true;
  }

  private async iterator(shard: string, type: Start, after: string | null, signal: AbortSignal): Promise<string> {
    const place = after
      ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after }
      : { ShardIteratorType: type };
    const reply = await dynamo<{ ShardIterator: string }>(
      'GetShardIterator',
      { StreamArn: this.arn, ShardId: shard, ...place },
      { signal },
    );
    return reply.ShardIterator;
  }

  private async readShard(position: Position, limit: number, signal: AbortSignal): Promise<Change[]> {
    try {
      const reply = await dynamo<{ Records: StreamRecord[]; NextShardIterator?: string }>(
        'GetRecords',
        { ShardIterator: position.iterator, Limit: limit },
        { signal },
      );
      position.iterator = reply.NextShardIterator ?? null;
      const changes = reply.Records.map(changeOf);
      position.last = changes[changes.length - 1]?.id ?? position.last;
      return changes;
    } catch (error) {
      if (!(error instanceof ApiError) || !/ExpiredIterator|TrimmedDataAccess/.test(error.code)) throw error;
      const after = /Trimmed/.test(error.code) ? null : position.last;
      position.iterator = await this.iterator(position.shard, 'TRIM_HORIZON', after, signal);
      return [];
    }
  }
}
