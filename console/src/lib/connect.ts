// How an SDK is pointed at this server, in each language.
// SPDX-License-Identifier: Apache-2.0
import type { Session } from './types';

export interface Example {
  id: string;
  label: string;
  /** What has to be there first. */
  install: string;
  code: string;
}

/** Without keys the server looks at none, but SDKs insist on having some. */
export function examples({ endpoint, region, auth }: Pick<Session, 'endpoint' | 'region' | 'auth'>): Example[] {
  const [id, secret] = auth === 'keys' ? ['ACCESS_KEY', 'SECRET'] : ['any', 'any'];
  return [
    {
      id: 'js',
      label: 'JavaScript',
      install: 'npm install @aws-sdk/client-dynamodb',
      code: `import { DynamoDB } from '@aws-sdk/client-dynamodb';

const client = new DynamoDB({
  endpoint: '${endpoint}',
  region: '${region}',
  credentials: { accessKeyId: '${id}', secretAccessKey: '${secret}' },
});
console.log(await client.listTables());`,
    },
    {
      id: 'python',
      label: 'Python',
      install: 'pip install boto3',
      code: `import boto3

dynamodb = boto3.resource(
    "dynamodb",
    endpoint_url="${endpoint}",
    region_name="${region}",
    aws_access_key_id="${id}",
    aws_secret_access_key="${secret}",
)
print(list(dynamodb.tables.all()))`,
    },
    {
      id: 'cli',
      label: 'aws cli',
      install: 'apt install awscli',
      code: `export AWS_ENDPOINT_URL_DYNAMODB=${endpoint}
export AWS_DEFAULT_REGION=${region}
export AWS_ACCESS_KEY_ID=${id}
export AWS_SECRET_ACCESS_KEY=${secret}

aws dynamodb list-tables --endpoint-url ${endpoint}`,
    },
    {
      id: 'java',
      label: 'Java',
      install: 'software.amazon.awssdk:dynamodb',
      code: `DynamoDbClient client = DynamoDbClient.builder()
    .endpointOverride(URI.create("${endpoint}"))
    .region(Region.of("${region}"))
    .credentialsProvider(StaticCredentialsProvider.create(
        AwsBasicCredentials.create("${id}", "${secret}")))
    .build();
System.out.println(client.listTables().tableNames());`,
    },
    {
      id: 'go',
      label: 'Go',
      install: 'go get github.com/aws/aws-sdk-go-v2/service/dynamodb github.com/aws/aws-sdk-go-v2/credentials',
      code: `client := dynamodb.New(dynamodb.Options{
	BaseEndpoint: aws.String("${endpoint}"),
	Region:       "${region}",
	Credentials:  credentials.NewStaticCredentialsProvider("${id}", "${secret}", ""),
})
tables, err := client.ListTables(context.TODO(), &dynamodb.ListTablesInput{})`,
    },
  ];
}
