import asyncio
import logging
import socket
import time
from contextlib import asynccontextmanager, suppress

import pytest
from serving import Local, post, read_all, until

pytest.importorskip("fastapi")
import uvicorn
from uvicorn.server import ServerState

from polyseme.serve.limits import Limits
from polyseme.serve.protocol import END, connections, head_of, raw
from polyseme.serve.service import Service

BODY = {"inputs": "the crack in the wall"}
HEAD = b"POST /embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def status(content):
    return int(content.split(b" ", 2)[1])


def test_a_request_is_answered_and_the_connection_kept(server):
    with server.socket(post("/embed", BODY)) as sock:
        assert sock.recv(15) == b"HTTP/1.1 200 OK"
        time.sleep(0.2)
        sock.recv(65536)
        sock.sendall(post("/embed", BODY, close=True))
        assert status(read_all(sock)) == 200


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "asked", [b"Upgrade: h2c\r\nconnection: upgrade", b"upgrade: websocket\r\nconnection: Upgrade"]
)
def test_a_request_for_another_protocol_is_answered_in_this_one(server, asked, whole):
    head, body = post("/embed", BODY).split(b"\r\n\r\n")
    hidden = post("/embed", b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").split(b"\r\n\r\n", 1)
    for first, second, wanted in ((head, body, 200), (*hidden, 4)):
        with server.socket(first + b"\r\n" + asked + b"\r\n\r\n" + (second if whole else b"")) as sock:
            time.sleep(0.1)
            if not whole:
                sock.sendall(second)
            time.sleep(0.3)
            sock.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            answer = read_all(sock)
        assert str(status(answer)).startswith(str(wanted))
        assert answer.count(b"HTTP/1.1 ") == 2  # nothing in the body was taken for a request
        assert answer.count(b"HTTP/1.1 200") == 1 + (wanted == 200)


def test_a_request_for_another_protocol_that_has_no_body_is_answered_too(server):
    asked = b"GET /health HTTP/1.1\r\nhost: localhost\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n\r\n"
    assert status(server.say(asked)) == 200


@pytest.mark.parametrize(
    "part", [b"POST /embed HT", HEAD, HEAD + b"content-length: 50\r\n\r\n", HEAD + b"content-length: 50\r\n\r\n{"]
)
def test_a_half_sent_request_is_cut_off_with_408(server, part):
    assert status(server.say(part)) == 408


def test_a_request_that_trickles_in_is_cut_off_too(server):
    with server.socket(HEAD) as sock:
        sock.settimeout(0.1)
        answer = b""
        for _ in range(100):
            try:
                sock.sendall(b"x")
                answer += sock.recv(1000)
            except TimeoutError:
                continue
            except OSError:
                break
            if answer:
                break
        assert status(answer) == 408


def test_a_connection_without_a_request_is_closed(server):
    assert server.say(b"") == b""


def test_a_body_shorter_than_it_was_said_to_be_is_refused(server):
    with server.socket(HEAD + b"content-length: 50\r\n\r\n{}") as sock:
        sock.shutdown(socket.SHUT_WR)
        assert status(read_all(sock)) == 400


@pytest.mark.parametrize("length", [b"x", b"-1", b"1, 2", b"1\r\ncontent-length: 2"])
def test_a_content_length_that_makes_no_sense_is_refused(server, length):
    assert status(server.say(HEAD + b"content-length: " + length + b"\r\n\r\n{}")) == 400


def test_a_body_longer_than_it_was_said_to_be_is_refused(server):
    content = b'{"inputs": "the crack in the wall"}'
    answer = server.say(HEAD + b"content-length: 10\r\n\r\n" + content)
    assert status(answer) == 400


def test_a_body_of_64_mb_gets_413_and_not_a_reset(server):
    large = b'{"inputs": "' + b"a" * (64 << 20) + b'"}'
    with server.socket(post("/embed", large, close=True), 30) as sock:
        assert status(read_all(sock)) == 413
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    with server.socket(HEAD + b"transfer-encoding: chunked\r\n\r\n", 30) as sock:
        for _ in range(40):
            sock.sendall(chunk)
        assert sock.recv(12) == b"HTTP/1.1 413"


def test_headers_without_end_are_refused(server):
    assert status(server.say(HEAD + b"x: " + b"a" * 300_000)) == 431


@pytest.mark.parametrize("content", [b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"hello\r\n\r\n"])
def test_what_is_not_http_is_refused(server, content):
    assert status(server.say(content)) == 400


def test_requests_sent_behind_one_another_are_answered_in_order(server):
    with server.socket(post("/embed", BODY) + post("/tokenize", BODY) + post("/x", BODY, close=True)) as sock:
        answers = read_all(sock)
    assert [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]] == [200, 200, 404]


def test_half_open_connections_do_not_keep_others_out(server):
    some = [server.socket(HEAD) for _ in range(50)]
    try:
        assert status(server.say(post("/embed", BODY, close=True))) == 200
    finally:
        for sock in some:
            sock.close()


def test_a_reader_that_does_not_read_is_cut_off(server):
    """Its replies are far larger than what the system keeps for it."""
    body = {"inputs": ["the crack in the wall"] * 1000}
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", server.port))
        sock.settimeout(20)
        for _ in range(20):
            sock.sendall(post("/embed_all", body))
        time.sleep(4)
        n_bytes = 0
        with pytest.raises(OSError):
            while part := sock.recv(1 << 20):
                n_bytes += len(part)
            raise OSError("closed")
    assert n_bytes < 20 * 4_000_000


def test_connections_beyond_the_limit_are_told_so_and_idle_ones_closed(service):
    with Local(Service(service.models, Limits(connections=2, idle=1))) as local:
        address = ("127.0.0.1", local.port)
        some = [socket.create_connection(address, 20) for _ in range(2)]
        with socket.create_connection(address, 20) as third:
            assert status(read_all(third)) == 503
        some.pop().close()
        some[0].sendall(post("/embed", BODY))
        assert status(read_all(some[0])) == 200  # and then it is closed, though the client keeps it
        some[0].close()


def test_the_server_is_well_after_all_that(server):
    until(lambda: status(server.say(post("/embed", BODY, close=True))) == 200)
    text = server.say(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").decode()
    assert 'status="500"' not in text
    assert "polyseme_waiting_tokens 0.0" in text


GET = b"GET /%b HTTP/1.1\r\nhost: localhost\r\n"


def whole(data):
    """The head of a request that is all of what came in, if it is a plain one."""
    head, end, body = data.partition(END)
    found = head_of(head) if end else None
    return found if found and found.body_bytes == len(body) else None


class Plain:
    """Connections of the protocol before an app that answers with the path, once it may."""

    def __init__(self, limits):
        self.gate, self.state = asyncio.Event(), ServerState()
        self.config = uvicorn.Config(
            self.app, interface="asgi3", lifespan="off", log_config=None, timeout_keep_alive=int(limits.idle)
        )
        self.config.load()
        self.protocol = connections(limits, self.refuse)

    def refuse(self, data):
        request = whole(data)
        return raw(429, b"no", {"retry-after": "1"}) if request and request[:2] == ("POST", "/refused") else None

    async def app(self, scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        if scope["path"] == "/slow":
            await self.gate.wait()
        content = b"R" * 60_000 if scope["path"] == "/long" else scope["path"].encode()
        headers = [(b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def connection(self):
        return self.protocol(self.config, self.state, {})

    async def client(self, content):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(content)
        return reader, writer

    def deaf(self):
        """A client that has little room for what it does not read."""
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", self.port))
        return sock


@asynccontextmanager
async def plain(**limits):
    one = Plain(Limits(**limits))
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    one.port = listening.getsockname()[1]
    server = await asyncio.get_running_loop().create_server(one.connection, sock=listening)
    yield one
    server.close()


async def eventually(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def statuses(reader):
    async with asyncio.timeout(20):
        answers = (await reader.read()).split(b"HTTP/1.1 ")[1:]
    return [int(answer[:3]) for answer in answers]


def test_an_empty_line_does_not_keep_a_connection_for_ever():
    async def main():
        async with plain(receive=0.3, idle=1) as server:
            reader, writer = await server.client(GET % b"x" + b"\r\n")
            await reader.readuntil(b"/x")
            writer.write(b"\r\n")
            assert await statuses(reader) == []
            writer.close()

    asyncio.run(main())


def test_a_client_that_leaves_a_short_reply_unread_is_cut_off():
    """So short that nothing but the end of the connection waits for it."""

    async def main():
        async with plain(receive=0.3, idle=1) as server:
            with server.deaf() as sock:
                sock.sendall(GET % b"long" + b"\r\n")
                await eventually(lambda: server.state.total_requests)
                (one,) = server.state.connections
                assert 0 < one.transport.get_write_buffer_size() < 65536
                await eventually(lambda: not server.state.connections)

    asyncio.run(main())


@pytest.mark.parametrize(
    "second, status",
    [(GET % b"second" + b"x: " + b"a" * 300_000, 431), (b"\x00\x01\r\n\r\n", 400), (GET % b"second", 408)],
)
def test_a_request_that_is_cut_off_does_not_take_the_answer_of_the_one_before(second, status, caplog):
    async def main():
        async with plain(receive=0.3) as server:
            reader, writer = await server.client(GET % b"slow" + b"\r\n" + second)
            await asyncio.sleep(0.1)
            server.gate.set()
            assert await statuses(reader) == [200, status]
            writer.close()

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert not caplog.records


def test_a_client_that_closes_its_side_while_it_waits_has_gone(caplog):
    async def main():
        async with plain() as server:
            reader, writer = await server.client(GET % b"slow" + b"\r\n" + b"GET /sec")
            await eventually(lambda: server.state.tasks)
            writer.write_eof()
            assert await statuses(reader) == []  # no 400 in the place of the answer that was due
            server.gate.set()
            await eventually(lambda: not server.state.tasks)

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert not caplog.records


def test_half_a_request_behind_one_that_is_answered_is_told_when_the_server_ends():
    async def main():
        async with plain() as server:
            reader, writer = await server.client(GET % b"slow" + b"\r\n" + GET % b"half")
            await eventually(lambda: server.state.tasks)
            (one,) = server.state.connections
            one.shutdown()
            server.gate.set()
            assert await statuses(reader) == [200, 503]
            writer.close()

    asyncio.run(main())


def test_a_head_is_counted_whole_and_nothing_else_is():
    async def main():
        async with plain(head_bytes=20_000) as server:
            large = GET % b"head" + b"x: " + b"a" * 21_000
            for content in (large + b"\r\n\r\n", large, b"GET /" + b"a" * 21_000):
                reader, writer = await server.client(content)
                assert await statuses(reader) == [431]
                writer.close()
            body = b"POST /one HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50000\r\n\r\n" + b"b" * 50_000
            reader, writer = await server.client(body + GET % b"two")
            await eventually(lambda: server.state.total_requests == 1)
            writer.write(b"connection: close\r\n\r\n")
            assert await statuses(reader) == [200, 200]
            writer.close()

    asyncio.run(main())


REFUSED = b"POST /refused?x=1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n"


def test_what_is_refused_at_once_leaves_the_connection_as_it_was():
    async def main():
        async with plain(receive=5, idle=5) as server:
            reader, writer = await server.client(REFUSED + b"\r\nGET /")
            assert (await reader.readuntil(b"no")).startswith(b"HTTP/1.1 429 ")
            writer.write(GET % b"x" + b"\r\n")
            assert (await reader.readuntil(b"/x")).startswith(b"HTTP/1.1 200 ")
            writer.write(REFUSED + b"\r\n12345")
            assert (await reader.readuntil(b"no")).startswith(b"HTTP/1.1 429 ")
            assert server.state.total_requests == 3
            writer.write(GET % b"slow" + b"\r\n")
            await asyncio.sleep(0.1)
            writer.write(REFUSED + b"connection: close\r\n\r\n12345")
            await asyncio.sleep(0.1)
            server.gate.set()  # behind a request that is still computed nothing is answered at once
            assert await statuses(reader) == [200, 200]
            writer.close()

    asyncio.run(main())


def test_a_connection_is_kept_after_a_refusal_as_long_as_after_an_answer():
    async def main():
        async with plain(receive=0.5, idle=1) as server:
            reader, writer = await server.client(REFUSED + b"\r\n12345")
            await reader.readuntil(b"no")
            await asyncio.sleep(0.7)  # longer than a request may take to come in
            writer.write(REFUSED + b"\r\n12345")
            await reader.readuntil(b"no")
            assert await statuses(reader) == []
            writer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "content",
    [
        b"connection: close\r\n\r\n12345", b"expect: 100-continue\r\nconnection: close\r\n\r\n12345",
        b"upgrade: h2c\r\nconnection: close, upgrade\r\n\r\n12345", b"host: localhost\r\n\r\n12345",
        b"x: y\r\n z\r\n\r\n12345", b"x: y\nz: y\r\n\r\n12345", b"x: y\rz\r\n\r\n12345", b"x\0: y\r\n\r\n12345",
        b"x\r\n\r\n12345", b"\r\n123", b"\r\n123456", b"\r\n", b"",
    ],
)  # fmt: skip
def test_only_a_plain_request_that_is_whole_is_taken_for_one(content):
    assert whole(REFUSED + content) is None
    for usual, other in (
        (b"/1.1", b"/1.0"),
        (b"/ref", b"/re%66"),
        (b"/ref", b"http://localhost/ref"),
        (b"/refused", b""),
    ):
        assert whole(REFUSED.replace(usual, other) + b"\r\n12345") is None
    assert whole(REFUSED.replace(b"h: 5", b"h: 05") + b"\r\n12345") is None
    assert whole(REFUSED + b"Connection: Keep-Alive\r\n\r\n12345")
    headers = {b"host": b"localhost", b"content-length": b"5", b"x": b"y: z"}
    assert whole(REFUSED + b"X:y: z \r\n\r\n12345") == ("POST", "/refused", headers, 5)


def test_what_is_not_refused_at_once_goes_the_long_way():
    async def main():
        async with plain(receive=5, idle=1) as server:
            reader, writer = await server.client(REFUSED + b"\r\n123")
            await asyncio.sleep(0.1)
            writer.write(b"45")
            assert (await reader.readuntil(b"/refused")).startswith(b"HTTP/1.1 200 ")
            writer.close()

    asyncio.run(main())


def test_refusals_that_nobody_reads_do_not_pile_up():
    async def main():
        async with plain(receive=2, idle=2) as server:
            with server.deaf() as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # each is read alone
                sock.setblocking(False)
                await eventually(lambda: server.state.connections)
                (one,) = server.state.connections
                one.transport.set_write_buffer_limits(4096)
                for _ in range(1000):
                    with suppress(BlockingIOError):
                        sock.send(REFUSED + b"\r\n12345")
                    await asyncio.sleep(0.001)
                assert one.transport.get_write_buffer_size() < 20_000

    asyncio.run(main())


def test_no_part_of_a_reply_waits_for_an_acknowledgement():
    async def main():
        async with plain() as server:
            reader, writer = await server.client(GET % b"x" + b"\r\n")
            await reader.readuntil(b"/x")
            (one,) = server.state.connections
            assert one.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()

    asyncio.run(main())
