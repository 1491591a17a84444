"""The main flows through the aws command line.

THORPE_AWS  the aws to run (default: the one on PATH)

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import subprocess
import unittest

from wire import WireTest

AWS = os.environ.get("THORPE_AWS") or shutil.which("aws")


@unittest.skipUnless(AWS, "there is no aws command")
class AwsCli(WireTest):
    def aws(self, *args, service="dynamodb", fails=False):
        """Runs one command; returns its JSON, or its error text when it is to fail."""
        done = subprocess.run(
            [AWS, service, *args, "--endpoint-url", self.endpoint, "--region", "us-east-1", "--output", "json"],
            capture_output=True, text=True, timeout=60, env={**os.environ, "AWS_PAGER": ""})
        if fails:
            self.assertNotEqual(done.returncode, 0, done.stdout)
            return done.stderr
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def test_a_first_five_minutes(self):
        name = self.fresh_name()
        self.aws("create-table", "--table-name", name, "--billing-mode", "PAY_PER_REQUEST",
                 "--key-schema", "AttributeName=pk,KeyType=HASH", "AttributeName=sk,KeyType=RANGE",
                 "--attribute-definitions", "AttributeName=pk,AttributeType=S", "AttributeName=sk,AttributeType=S",
                 "--stream-specification", "StreamEnabled=true,StreamViewType=NEW_IMAGE")
        self.aws("wait", "table-exists", "--table-name", name)
        self.assertIn(name, self.aws("list-tables")["TableNames"])
        for sk in ("POST#1", "POST#2", "PROFILE"):
            self.aws("put-item", "--table-name", name, "--item", json.dumps({"pk": {"S": "USER#42"}, "sk": {"S": sk}, "n": {"N": "1"}}))
        found = self.aws("query", "--table-name", name, "--key-condition-expression", "pk = :u AND begins_with(sk, :p)",
                         "--expression-attribute-values", json.dumps({":u": {"S": "USER#42"}, ":p": {"S": "POST#"}}))
        self.assertEqual([item["sk"]["S"] for item in found["Items"]], ["POST#1", "POST#2"])
        key = json.dumps({"pk": {"S": "USER#42"}, "sk": {"S": "PROFILE"}})
        updated = self.aws("update-item", "--table-name", name, "--key", key, "--update-expression", "ADD n :one",
                           "--expression-attribute-values", '{":one":{"N":"1"}}', "--return-values", "UPDATED_NEW")
        self.assertEqual(updated["Attributes"], {"n": {"N": "2"}})
        self.assertEqual(self.aws("get-item", "--table-name", name, "--key", key)["Item"]["n"], {"N": "2"})
        stderr = self.aws("put-item", "--table-name", name, "--item", key, "--condition-expression", "attribute_not_exists(pk)", fails=True)
        self.assertIn("ConditionalCheckFailedException", stderr)
        self.assertIn("The conditional request failed", stderr)
        self.aws("delete-item", "--table-name", name, "--key", key)
        scanned = self.aws("scan", "--table-name", name, "--page-size", "1")
        self.assertEqual(scanned["Count"], 2)
        streams = self.aws("list-streams", "--table-name", name, service="dynamodbstreams")["Streams"]
        self.assertEqual(len(streams), 1)
        described = self.aws("describe-stream", "--stream-arn", streams[0]["StreamArn"], service="dynamodbstreams")
        self.assertEqual(described["StreamDescription"]["TableName"], name)
        self.aws("delete-table", "--table-name", name)
        self.aws("wait", "table-not-exists", "--table-name", name)

    def test_batches_and_transactions(self):
        name = self.create_table()
        item = lambda sk: {"pk": {"S": "a"}, "sk": {"N": str(sk)}}
        reply = self.aws("batch-write-item", "--request-items", json.dumps({name: [{"PutRequest": {"Item": item(sk)}} for sk in range(5)]}))
        self.assertEqual(reply["UnprocessedItems"], {})
        reply = self.aws("batch-get-item", "--request-items", json.dumps({name: {"Keys": [item(sk) for sk in (1, 3, 9)]}}))
        self.assertEqual(len(reply["Responses"][name]), 2)
        self.aws("transact-write-items", "--transact-items", json.dumps([
            {"Delete": {"TableName": name, "Key": item(0)}}, {"Put": {"TableName": name, "Item": item(10)}}]))
        reply = self.aws("transact-get-items", "--transact-items", json.dumps([{"Get": {"TableName": name, "Key": item(sk)}} for sk in (0, 10)]))
        self.assertEqual(["Item" in response for response in reply["Responses"]], [False, True])


if __name__ == "__main__":
    unittest.main()
