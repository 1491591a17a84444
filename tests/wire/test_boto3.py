"""The main flows through boto3: client, resource, paginators, waiters, batch_writer, Streams.

SPDX-License-Identifier: Apache-2.0
"""
import unittest
from decimal import Decimal

from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.exceptions import ClientError

from wire import WireTest, until


class Boto3(WireTest):
    def refused(self, code, message=None):
        context = self.assertRaises(ClientError)
        test = self

        class Check:
            def __enter__(self):
                context.__enter__()
                return context

            def __exit__(self, *args):
                swallowed = context.__exit__(*args)
                error = context.exception.response["Error"]
                test.assertEqual(error["Code"], code, error["Message"])
                if message:
                    test.assertEqual(error["Message"], message)
                return swallowed

        return Check()

    def test_client_puts_gets_updates_and_deletes(self):
        client, table = self.client("dynamodb"), self.create_table()
        key = {"pk": {"S": "a"}, "sk": {"N": "1"}}
        client.put_item(TableName=table, Item={**key, "v": {"B": b"\x00\xff"}, "s": {"SS": ["x", "y"]}})
        item = client.get_item(TableName=table, Key=key, ConsistentRead=True)["Item"]
        self.assertEqual(item["v"]["B"], b"\x00\xff")
        self.assertEqual(sorted(item["s"]["SS"]), ["x", "y"])
        updated = client.update_item(
            TableName=table, Key=key, UpdateExpression="SET #c = if_not_exists(#c, :z) + :one REMOVE v",
            ExpressionAttributeNames={"#c": "count"}, ExpressionAttributeValues={":z": {"N": "0"}, ":one": {"N": "1"}},
            ReturnValues="ALL_NEW", ReturnConsumedCapacity="TOTAL")
        self.assertEqual(updated["Attributes"]["count"], {"N": "1"})
        self.assertNotIn("v", updated["Attributes"])
        self.assertGreaterEqual(updated["ConsumedCapacity"]["CapacityUnits"], 1)
        old = client.delete_item(TableName=table, Key=key, ReturnValues="ALL_OLD")["Attributes"]
        self.assertEqual(old["pk"], {"S": "a"})
        self.assertNotIn("Item", client.get_item(TableName=table, Key=key))

    def test_resource_round_trips_python_values(self):
        table = self.resource().Table(self.create_table())
        item = {
            "pk": "types", "sk": Decimal("-1.50"), "text": "ünï", "none": None, "yes": True, "list": [1, "two", {"three": 3}],
            "map": {"deep": {"er": Decimal("0.1")}}, "numbers": {Decimal(1), Decimal("2.5")}, "strings": {"a", "b"},
            "bytes": Binary(b"\x01\x02"), "large": Decimal("12345678901234567890123456789012345678"),
        }
        table.put_item(Item=item)
        self.assertEqual(table.get_item(Key={"pk": "types", "sk": Decimal("-1.5")})["Item"], item)
        self.assertEqual(table.item_count, 1)

    def test_conditions_and_their_errors(self):
        table = self.resource().Table(self.create_table())
        table.put_item(Item={"pk": "c", "sk": 1, "v": 1}, ConditionExpression=Attr("pk").not_exists())
        with self.refused("ConditionalCheckFailedException", "The conditional request failed"):
            table.put_item(Item={"pk": "c", "sk": 1}, ConditionExpression=Attr("pk").not_exists())
        table.update_item(
            Key={"pk": "c", "sk": 1}, UpdateExpression="SET v = :v", ExpressionAttributeValues={":v": 2},
            ConditionExpression=Attr("v").eq(1) & (Attr("gone").not_exists() | Attr("v").between(5, 9)) & ~Attr("v").lt(0))
        with self.refused("ValidationException"):
            table.update_item(Key={"pk": "c", "sk": 1}, UpdateExpression="SET v = :undefined")
        with self.refused("ResourceNotFoundException"):
            self.resource().Table("no-such-table").get_item(Key={"pk": "a"})

    def test_queries_scans_and_paginators(self):
        name = self.create_table()
        table = self.resource().Table(name)
        with table.batch_writer() as batch:
            for i in range(60):
                batch.put_item(Item={"pk": "p", "sk": i, "g": f"g{i % 3}", "odd": bool(i % 2)})
        found = table.query(KeyConditionExpression=Key("pk").eq("p") & Key("sk").between(10, 19), ScanIndexForward=False)
        self.assertEqual([int(item["sk"]) for item in found["Items"]], list(range(19, 9, -1)))
        found = table.query(IndexName="byG", KeyConditionExpression=Key("g").eq("g1"), FilterExpression=Attr("odd").eq(True))
        self.assertEqual(found["Count"], 10)
        self.assertEqual(found["ScannedCount"], 20)
        client = self.client("dynamodb")
        pages = list(client.get_paginator("query").paginate(
            TableName=name, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "p"}},
            PaginationConfig={"PageSize": 7}))
        self.assertEqual(len(pages), 9)
        self.assertEqual([int(item["sk"]["N"]) for page in pages for item in page["Items"]], list(range(60)))
        segments = [
            item["sk"]["N"] for segment in range(4)
            for page in client.get_paginator("scan").paginate(TableName=name, Segment=segment, TotalSegments=4)
            for item in page["Items"]]
        self.assertEqual(sorted(map(int, segments)), list(range(60)))

    def test_batch_writer_overwrites_and_deletes(self):
        table = self.resource().Table(self.create_table())
        with table.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
            for i in range(100):
                batch.put_item(Item={"pk": "b", "sk": i % 40, "round": i // 40})
        self.assertEqual(table.scan(Select="COUNT")["Count"], 40)
        with table.batch_writer() as batch:
            for i in range(30):
                batch.delete_item(Key={"pk": "b", "sk": i})
        self.assertEqual(table.scan(Select="COUNT")["Count"], 10)
        found = self.resource().batch_get_item(RequestItems={table.name: {"Keys": [{"pk": "b", "sk": i} for i in range(25, 35)]}})
        self.assertEqual(sorted(int(item["sk"]) for item in found["Responses"][table.name]), list(range(30, 35)))

    def test_transactions(self):
        client, table = self.client("dynamodb"), self.create_table()
        put = lambda sk, **extra: {"Put": {"TableName": table, "Item": {"pk": {"S": "t"}, "sk": {"N": str(sk)}}, **extra}}
        client.transact_write_items(TransactItems=[put(1), put(2)])
        with self.assertRaises(client.exceptions.TransactionCanceledException) as caught:
            client.transact_write_items(TransactItems=[put(3), put(1, ConditionExpression="attribute_not_exists(pk)")])
        reasons = caught.exception.response["CancellationReasons"]
        self.assertEqual([reason["Code"] for reason in reasons], ["None", "ConditionalCheckFailed"])
        got = client.transact_get_items(TransactItems=[
            {"Get": {"TableName": table, "Key": {"pk": {"S": "t"}, "sk": {"N": str(sk)}}}} for sk in (1, 3)])
        self.assertEqual(["Item" in response for response in got["Responses"]], [True, False])

    def test_tables_are_waited_for_listed_and_deleted(self):
        client = self.client("dynamodb")
        names = [self.create_table() for _ in range(3)]
        listed = [name for page in client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 1}) for name in page["TableNames"]]
        for name in names:
            self.assertIn(name, listed)
        table = self.resource().Table(names[0])
        table.delete()
        table.wait_until_not_exists()
        with self.refused("ResourceNotFoundException", None):
            table.load()

    def test_streams(self):
        name = self.create_table(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        table = self.resource().Table(name)
        table.put_item(Item={"pk": "s", "sk": 1, "v": 1})
        table.update_item(Key={"pk": "s", "sk": 1}, UpdateExpression="SET v = :v", ExpressionAttributeValues={":v": 2})
        table.delete_item(Key={"pk": "s", "sk": 1})
        streams = self.client("dynamodbstreams")
        arn = streams.list_streams(TableName=name)["Streams"][0]["StreamArn"]
        self.assertEqual(arn, table.latest_stream_arn)

        def records():
            found = []
            for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
                iterator = streams.get_shard_iterator(
                    StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
                found += streams.get_records(ShardIterator=iterator)["Records"]
            return found if len(found) >= 3 else None

        found = until("three records", records)
        self.assertEqual([record["eventName"] for record in found], ["INSERT", "MODIFY", "REMOVE"])
        self.assertEqual(found[1]["dynamodb"]["OldImage"]["v"], {"N": "1"})
        self.assertEqual(found[1]["dynamodb"]["NewImage"]["v"], {"N": "2"})

    def test_time_to_live(self):
        client, table = self.client("dynamodb"), self.create_table()
        client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"})
        described = until("TTL", lambda: (lambda d: d if d["TimeToLiveStatus"] == "ENABLED" else None)(
            client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]))
        self.assertEqual(described["AttributeName"], "expires")


if __name__ == "__main__":
    unittest.main()
