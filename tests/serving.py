"""Small models to serve, and ways to ask: straight into the app, or through sockets."""

import asyncio
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, TiedDecoder
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.text.bags import BagTokenizer
from polyseme.text.characters import CharacterTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL
from polyseme.text.wordpiece import WordPiece

WORDS = (
    "the a crack in wall bank river was high bats fly at night spring came early good bad film awful great movie is "
    "not word short he she said red blue . , ? who where when what John Mary London Paris lives loves visited"
).split()
SOURCE = Path(__file__).resolve().parent.parent / "src"


def tiny_bert(window=32, width=32):
    torch.manual_seed(1)
    tokenizer = WordPiece.train([" ".join(WORDS)] * 5, n_pieces=200, window=window)
    config = BertConfig(
        vocab_size=tokenizer.n_pieces, hidden_size=width, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=window,
    )  # fmt: skip
    encoder, heads = BertEncoder(config), BertHeads(config)
    with torch.no_grad():
        for weights in [*encoder.parameters(), *heads.parameters()]:
            weights.add_(torch.randn_like(weights) * 0.15)
    return Pretrained(tokenizer, encoder.eval(), {}, heads.eval())


def tiny_elmo():
    torch.manual_seed(1)
    config = ElmoConfig(width=16, cell_width=32, n_highway=1, filters=((1, 8), (2, 8), (3, 16)))
    return Pretrained(CharacterTokenizer(config.max_characters), ElmoEncoder(config).eval())


def tiny_awd():
    torch.manual_seed(1)
    words = (*SPECIAL, *WORDS)
    config = AwdLstmConfig(n_words=len(words), embedding_width=16, hidden_width=24, n_layers=2)
    return Pretrained(MarkedWords(words), AwdLstmEncoder(config).eval(), {}, TiedDecoder(config).eval())


def tiny_static():
    torch.manual_seed(1)
    encoder = StaticEncoder(StaticConfig(n_rows=len(WORDS), width=24))
    torch.nn.init.normal_(encoder.table.weight)
    return Pretrained(BagTokenizer(tuple(WORDS), None, True), encoder.eval())


FAMILIES = {"bert": tiny_bert, "elmo": tiny_elmo, "awd": tiny_awd, "static": tiny_static}


class Answer:
    """What an app or a server said."""

    def __init__(self, status, headers, content):
        self.status, self.headers, self.content = status, headers, content

    @property
    def json(self):
        return json.loads(self.content)


async def call(app, method, path, body=None, headers=None, pieces=1):
    """One request straight into an ASGI app; a body that is not bytes is sent as JSON."""
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"host": "localhost", "content-type": "application/json"} | (headers or {})
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "http_version": "1.1", "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1),
        "root_path": "", "asgi": {"version": "3.0"}, "state": {},
    }  # fmt: skip
    step = max(1, -(-len(content) // pieces))
    parts = [content[start : start + step] for start in range(0, len(content), step)] or [b""]
    messages = [
        {"type": "http.request", "body": part, "more_body": place < len(parts) - 1} for place, part in enumerate(parts)
    ]
    said = []

    async def receive():
        if not messages:
            await asyncio.Event().wait()  # the client stays
        return messages.pop(0)

    async def send(message):
        said.append(message)

    await app(scope, receive, send)
    head = {name.decode(): value.decode() for name, value in said[0]["headers"]}
    return Answer(said[0]["status"], head, b"".join(message.get("body", b"") for message in said[1:]))


def ask(app, path, body=None, method=None, **options):
    """One request from code that is not in an event loop."""
    return asyncio.run(call(app, method or ("GET" if body is None else "POST"), path, body, **options))


class Process:
    """A server of its own, started by the command."""

    def __init__(self, *arguments, environment=None, program=("-m", "polyseme")):
        command = [sys.executable, *program, "serve", *map(str, arguments), "--port", "0"]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE), **(environment or {})},
        )  # fmt: skip
        self.said = ""
        for line in self.process.stderr:
            self.said += line
            if line.startswith("Serving"):
                break
        else:
            raise AssertionError(self.said)
        self.address = line.split()[-1]
        self.port = int(self.address.rsplit(":", 1)[1])

    def socket(self, content=b"", seconds=20):
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=seconds)
        sock.sendall(content)
        return sock

    def say(self, content, seconds=20):
        """Everything that comes back on a connection until it is closed."""
        with self.socket(content, seconds) as sock:
            return read_all(sock)

    def end(self, seconds=20):
        """The code it leaves with after SIGTERM."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        finally:
            self.process.kill()
            self.said += self.process.stderr.read()
            self.process.stderr.close()
        return code


class Local:
    """A server in a thread of this process."""

    def __init__(self, service, **options):
        from polyseme.serve.app import make_app
        from polyseme.serve.server import make_server

        self.ports = queue.Queue()
        self.server = make_server(make_app(service, **options), service, self.ports.put)
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.thread = threading.Thread(target=self.server.run, args=([self.listening],))

    def __enter__(self):
        self.thread.start()
        self.port = self.ports.get(timeout=20)
        self.address = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *error):
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()


def read_all(sock):
    content = b""
    while part := sock.recv(65536):
        content += part
    return content


def post(path, body, close=False):
    """The bytes of a request."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = "connection: close\r\n" if close else ""
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{connection}"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


class Client:
    """A connection that is kept, for many requests one after another."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, path, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(post(path, body))
        await self.writer.drain()
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        content = await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(lines[0].split()[1]), headers, content)

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.writer = None


def is_same(vectors, others):
    """Whether they differ by a millionth of their length at the most: what the server promises of any company."""
    return (np.abs(vectors - others) <= 1e-6 * np.linalg.norm(others, axis=-1, keepdims=True)).all()


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
