// DynamoDB's JSON protocol over plain keep-alive connections.
// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';

/** The server answered with an error; `name` is DynamoDB's. */
export class ServiceError extends Error {
  constructor(status, document) {
    super(document.message ?? document.Message ?? '');
    this.status = status;
    this.name = String(document.__type ?? 'unknown').split('#').pop();
    this.reasons = document.CancellationReasons;
  }
}

/** No answer: what was asked may have happened or not. */
export class NoAnswer extends Error {}

export class Client {
  constructor(port, connections = 64) {
    this.port = port;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  }

  close() {
    this.agent.destroy();
  }

  call(operation, body, service = 'DynamoDB_20120810') {
    const payload = JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request({
        host: '127.0.0.1',
        port: this.port,
        method: 'POST',
        agent: this.agent,
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'content-length': Buffer.byteLength(payload),
          'x-amz-target': `${service}.${operation}`,
          'x-amz-date': '20260101T000000Z',
          authorization: 'AWS4-HMAC-SHA256 Credential=crash/20260101/us-east-1/dynamodb/aws4_request, '
            + 'SignedHeaders=host;x-amz-date, Signature=00',
        },
      }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', () => reject(new NoAnswer(operation)));
        response.on('close', () => {
          if (!response.complete) reject(new NoAnswer(operation));
        });
        response.on('end', () => {
          const document = JSON.parse(Buffer.concat(chunks).toString());
          if (response.statusCode === 200) resolve(document);
          else reject(new ServiceError(response.statusCode, document));
        });
      });
      request.on('error', (error) => reject(new NoAnswer(`${operation}: ${error.message}`)));
      request.end(payload);
    });
  }

  streams(operation, body) {
    return this.call(operation, body, 'DynamoDBStreams_20120810');
  }

  /** All items of a table or index, page by page. */
  async scan(TableName, IndexName) {
    const items = [];
    let ExclusiveStartKey;
    do {
      const page = await this.call('Scan', { TableName, IndexName, ExclusiveStartKey, ConsistentRead: !IndexName });
      items.push(...page.Items);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return items;
  }

  async describe(TableName) {
    return (await this.call('DescribeTable', { TableName })).Table;
  }

  /** All records of a stream, shard by shard, each shard's in its order. */
  async records(StreamArn) {
    const shards = [];
    const { StreamDescription } = await this.streams('DescribeStream', { StreamArn });
    for (const { ShardId } of StreamDescription.Shards) {
      const first = await this.streams('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
      const records = [];
      for (let iterator = first.ShardIterator; iterator;) {
        const page = await this.streams('GetRecords', { ShardIterator: iterator });
        if (page.Records.length === 0) break;
        records.push(...page.Records);
        iterator = page.NextShardIterator;
      }
      shards.push(records);
    }
    return shards;
  }
}

/** One text for equal documents, whatever the order of their members. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
}

/** The primary key of an item; `table` as DescribeTable describes it. */
export function keyOf(table, item) {
  return Object.fromEntries(table.KeySchema.map(({ AttributeName }) => [AttributeName, item[AttributeName]]));
}
