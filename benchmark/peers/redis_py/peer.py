"""redis-py's asyncio Lock. See README.md in the folder above."""
import asyncio
import json
import math
import sys
import time
from collections import Counter

from redis.asyncio import BlockingConnectionPool, Redis

port, lease = sys.argv[1:3]
lease = int(lease) / 1000 or 30
held = []


def named(client, number):
    return client.lock(f"peers:{number}", timeout=lease, thread_local=False)


def step(seconds):
    return round(100 * math.log(max(seconds * 1e6, 0.1)))


async def cycle(lock, end, seen):
    while (asked := time.monotonic()) < end:
        await lock.acquire()
        got = time.monotonic()
        seen["waits"][step(got - asked)] += 1
        await lock.release()
        seen["cycles"][step(time.monotonic() - asked)] += 1
        if got < end:
            seen["count"] += 1


async def renew(lock):
    while True:
        await asyncio.sleep(lease / 3)
        await lock.reacquire()


async def hold(lock):
    await lock.acquire()
    held.append((lock, asyncio.create_task(renew(lock))))


async def drop(lock, renewal):
    renewal.cancel()
    await lock.release()


async def once(lock):
    async with lock:
        pass


async def answer(client, verb, words):
    if verb == "cycle":
        keys, tasks, end = int(words[0]), int(words[1]), time.monotonic() + float(words[2])
        seen = {"count": 0, "waits": Counter(), "cycles": Counter()}
        await asyncio.gather(
            *(cycle(named(client, i % keys), end, seen) for i in range(tasks)))
        return seen
    at = time.time_ns()
    if verb == "hold":
        await asyncio.gather(*(hold(named(client, i)) for i in range(int(words[0]))))
        at = time.time_ns()
    elif verb == "once":
        await asyncio.gather(*(once(named(client, 0)) for i in range(int(words[0]))))
        at = time.time_ns()
    elif verb == "drop":
        await asyncio.gather(*(drop(*each) for each in held))
        held.clear()
    return {"at": at // 1000}


async def main():
    pool = BlockingConnectionPool.from_url(
        f"redis://127.0.0.1:{port}", max_connections=64, timeout=None)
    client = Redis.from_pool(pool)
    await client.ping()
    print(json.dumps({"key": "peers:0"}), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        verb, *words = line.split()
        print(json.dumps(await answer(client, verb, words)), flush=True)


asyncio.run(main())
