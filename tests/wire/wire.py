"""A server for each test class, and clients for it: what harness.mjs is to the JavaScript tests.

THORPE_ENDPOINT  test this DynamoDB endpoint instead of starting a server
THORPE_BIN       the server to start (default: build/thorpe)

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import uuid

import boto3
from botocore.config import Config

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("THORPE_BIN", os.path.join(HERE, "..", "..", "build", "thorpe"))
ENDPOINT = os.environ.get("THORPE_ENDPOINT")
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "fakeMyKeyId",
    "AWS_SECRET_ACCESS_KEY": "fakeSecretAccessKey",
    "AWS_DEFAULT_REGION": "us-east-1",
}
# The tests must not depend on whoever's settings lie around in the home directory.
os.environ.update(CREDENTIALS, AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull,
                  AWS_EC2_METADATA_DISABLED="true")


def until(what, probe, seconds=30):
    """Calls probe until it returns something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain for: {what}")
        time.sleep(0.02)


class Server:
    """A Thorpe with a port and a directory of its own."""

    def __init__(self):
        self.data = tempfile.mkdtemp(prefix="thorpe-wire-")
        self.log = ""
        self.process = subprocess.Popen(
            [BIN, "serve", "--listen", "127.0.0.1:0", "--data", self.data],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.endpoint = until("the server to say where it listens", self._address)

    def _read(self):
        for line in self.process.stderr:
            self.log += line

    def _address(self):
        found = re.search(r"http://127\.0\.0\.1:\d+", self.log)
        if not found and self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}: {self.log}")
        return found and found.group()

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=30)
        self.reader.join(timeout=30)
        self.process.stderr.close()
        shutil.rmtree(self.data, ignore_errors=True)
        assert code == 0, f"exit code {code} after SIGTERM; its log:\n{self.log[-4000:]}"


class WireTest(unittest.TestCase):
    """Starts one server for the class; self.endpoint is where it listens."""

    @classmethod
    def setUpClass(cls):
        cls.server = None if ENDPOINT else Server()
        cls.endpoint = ENDPOINT or cls.server.endpoint
        cls.tables = []
        cls.clients = {}

    @classmethod
    def tearDownClass(cls):
        if cls.server:
            cls.server.stop()
        else:
            for name in cls.tables:
                try:
                    cls.client("dynamodb").delete_table(TableName=name)
                except cls.client("dynamodb").exceptions.ResourceNotFoundException:
                    pass

    @classmethod
    def client(cls, service):
        if service not in cls.clients:
            cls.clients[service] = boto3.client(service, endpoint_url=cls.endpoint, region_name="us-east-1",
                                                config=Config(retries={"max_attempts": 0}))
        return cls.clients[service]

    @classmethod
    def resource(cls):
        return boto3.resource("dynamodb", endpoint_url=cls.endpoint, region_name="us-east-1",
                              config=Config(retries={"max_attempts": 0}))

    @classmethod
    def fresh_name(cls):
        name = f"py-{uuid.uuid4().hex[:12]}"
        cls.tables.append(name)
        return name

    def create_table(self, **rest):
        """A table with pk and a numeric sk, an index on g, ACTIVE."""
        name = self.fresh_name()
        client = self.client("dynamodb")
        client.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "N"},
                {"AttributeName": "g", "AttributeType": "S"}],
            GlobalSecondaryIndexes=[{
                "IndexName": "byG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"}}],
            **rest)
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
        return name
