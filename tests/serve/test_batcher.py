import asyncio
import threading
import time

import pytest

pytest.importorskip("fastapi")
from polyseme.serve.batcher import Batcher, Full, Work
from polyseme.serve.computing import Threads


def soon():
    return asyncio.get_running_loop().time() + 20


class Doubling:
    """Work that doubles numbers once it may, and remembers its batches."""

    def __init__(self, budget=10, shared=False):
        self.batches, self.gate = [], threading.Event()
        self.work = Work(("double",), self, budget, shared)

    def __call__(self, inputs):
        self.batches.append(list(inputs))
        assert self.gate.wait(20)
        return [2 * number for number in inputs]


def batcher(n_threads=1, limit=1000):
    return Batcher(Threads(n_threads), limit)


async def begin(coroutine):
    """A task that has come to its first wait."""
    task = asyncio.ensure_future(coroutine)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


def test_what_waits_is_taken_together_within_the_budget_and_nothing_is_swapped():
    async def main():
        doubling, queue = Doubling(budget=10), batcher()
        tasks = [await begin(queue.results(doubling.work, [n, n + 100], [3, 3], soon())) for n in range(8)]
        doubling.gate.set()
        assert await asyncio.gather(*tasks) == [[2 * n, 2 * n + 200] for n in range(8)]
        assert doubling.batches[0] == [0, 100]  # it did not wait for company
        assert [len(batch) for batch in doubling.batches] == [2, 3, 3, 3, 3, 2]
        assert queue.waiting == 0

    asyncio.run(main())


def test_an_input_larger_than_the_budget_has_a_batch_of_its_own():
    async def main():
        doubling, queue = Doubling(budget=10), batcher()
        tasks = [await begin(queue.results(doubling.work, [n], [size], soon())) for n, size in enumerate([1, 50, 2, 3])]
        doubling.gate.set()
        await asyncio.gather(*tasks)
        assert [1] in doubling.batches

    asyncio.run(main())


def test_inputs_of_like_length_share_a_batch():
    async def main():
        doubling, queue = Doubling(budget=12), batcher()
        sizes = [1, 2, 6, 2, 6, 2, 2]
        tasks = [await begin(queue.results(doubling.work, [size], [size], soon())) for size in sizes]
        doubling.gate.set()
        await asyncio.gather(*tasks)
        assert doubling.batches == [[1], [2, 2, 2, 2], [6, 6]]

    asyncio.run(main())


def test_other_work_is_not_mixed_in():
    async def main():
        one, other, queue = Doubling(), Doubling(), batcher()
        other.work = Work(("other",), other, 10, False)
        tasks = [await begin(queue.results(work.work, [n], [1], soon())) for n, work in enumerate([one, other] * 3)]
        one.gate.set()
        other.gate.set()
        assert await asyncio.gather(*tasks) == [[0], [2], [4], [6], [8], [10]]
        assert one.batches == [[0], [2, 4]]
        assert other.batches == [[1, 3, 5]]

    asyncio.run(main())


def test_a_full_queue_refuses_at_once_and_opens_again():
    async def main():
        doubling, queue = Doubling(budget=10), batcher(limit=30)
        tasks = [await begin(queue.results(doubling.work, [n], [10], soon())) for n in range(4)]
        assert queue.waiting == 30
        with pytest.raises(Full) as full:
            await queue.results(doubling.work, [9], [10], soon())
        assert full.value.seconds >= 1
        assert queue.full
        doubling.gate.set()
        await asyncio.gather(*tasks)
        assert not queue.full
        assert await queue.results(doubling.work, [9], [10], soon()) == [18]

    asyncio.run(main())


def test_a_client_that_has_gone_is_not_computed_for_and_takes_no_room():
    async def main():
        doubling, queue = Doubling(budget=10), batcher(limit=30)
        first = await begin(queue.results(doubling.work, [1], [10], soon()))
        gone = await begin(queue.results(doubling.work, [2, 3], [10, 10], soon()))
        last = await begin(queue.results(doubling.work, [4], [10], soon()))
        gone.cancel()
        await asyncio.sleep(0)
        assert queue.waiting == 10
        doubling.gate.set()
        await asyncio.gather(first, last)
        assert doubling.batches == [[1], [4]]

    asyncio.run(main())


def test_a_request_past_its_deadline_is_told_so_and_forgotten():
    async def main():
        doubling, queue = Doubling(budget=10), batcher()
        now = asyncio.get_running_loop().time()
        first = await begin(queue.results(doubling.work, [1], [10], soon()))
        with pytest.raises(TimeoutError):
            await queue.results(doubling.work, [2], [10], now + 0.05)
        doubling.gate.set()
        assert await first == [2]
        assert doubling.batches == [[1]]
        assert queue.waiting == 0

    asyncio.run(main())


def test_one_bad_input_does_not_spoil_its_batch():
    def inverse(inputs):
        return [1 / number for number in inputs]

    async def main():
        queue, doubling = batcher(), Doubling()
        work = Work(("inverse",), inverse, 100, False)
        first = await begin(queue.results(doubling.work, [1], [1], soon()))
        tasks = [await begin(queue.results(work, [n], [1], soon())) for n in (4, 2, 0, 1, 5)]
        doubling.gate.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [one for one in found if isinstance(one, list)] == [[0.25], [0.5], [1], [0.2]]
        assert isinstance(found[2], ZeroDivisionError)
        await first

    asyncio.run(main())


def test_a_single_text_is_not_held_up_by_a_thousand():
    async def main():
        doubling, queue = Doubling(budget=10), batcher(limit=100_000)
        many = await begin(queue.results(doubling.work, list(range(1000)), [5] * 1000, soon()))
        single = await begin(queue.results(doubling.work, [5000], [5], soon()))
        doubling.gate.set()
        assert await single == [10_000]
        assert not many.done()
        assert len(doubling.batches) < 20
        assert await many == [2 * n for n in range(1000)]

    asyncio.run(main())


def test_a_thousand_texts_are_not_starved_by_single_ones():
    async def main():
        doubling, queue = Doubling(budget=10), batcher(limit=100_000)
        doubling.gate.set()
        many = await begin(queue.results(doubling.work, list(range(100)), [5] * 100, soon()))
        n_single = 0
        while not many.done():  # there is always a single one waiting
            pair = [queue.results(doubling.work, [0], [10], soon()) for _ in range(2)]
            await asyncio.gather(*pair)
            n_single += 2
            assert n_single < 2000
        assert await many == [2 * n for n in range(100)]

    asyncio.run(main())


def test_work_for_all_threads_waits_until_all_are_free():
    async def main():
        small, large, queue = Doubling(budget=4), Doubling(shared=True), batcher(n_threads=2)
        large.work = Work(("large",), large, 10, True)
        first = await begin(queue.results(small.work, [1, 2], [4, 4], soon()))
        whole = await begin(queue.results(large.work, [3], [4], soon()))
        await asyncio.sleep(0.05)
        assert not large.batches
        small.gate.set()
        large.gate.set()
        assert await asyncio.gather(first, whole) == [[2, 4], [6]]

    asyncio.run(main())


def test_what_is_made_aside_is_among_what_waits_until_it_is_made():
    async def main():
        queue, gate = batcher(limit=30), threading.Event()
        now = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError):
            await queue.aside(lambda: gate.wait(20), 20, now + 0.05)
        assert queue.waiting == 20  # nobody waits for it, but its thread has not ended
        with pytest.raises(Full):
            await queue.aside(int, 20, soon())
        gate.set()
        async with asyncio.timeout(20):
            while queue.waiting:
                await asyncio.sleep(0.01)
        assert await queue.aside(lambda: 7, 20, soon()) == 7
        assert queue.waiting == 0

    asyncio.run(main())


def test_where_much_waits_a_thread_need_not_wait_for_the_loop():
    async def main():
        doubling, queue = Doubling(budget=10), batcher()
        tasks = [await begin(queue.results(doubling.work, [n], [10], soon())) for n in range(8)]
        assert queue.waiting == 60  # one is computed, one is next
        doubling.gate.set()
        for _ in range(200):
            time.sleep(0.01)  # the loop is busy with other things
            if len(doubling.batches) == 2:
                break
        assert doubling.batches == [[0], [1]]
        assert await asyncio.gather(*tasks) == [[2 * n] for n in range(8)]

    asyncio.run(main())
