"""A peer of the interoperation tests: redis-py's Lock. See test/interop/peer.hpp."""
import sys

import redis
from lines import serve
from redis.exceptions import LockError

client = redis.Redis(unix_socket_path=sys.argv[1])
held = {}


# [lock]
def lock(name, lease_ms, wait_ms):
    lock = client.lock(name, timeout=lease_ms / 1000, sleep=0.02, thread_local=False)
    if not lock.acquire(blocking=wait_ms > 0, blocking_timeout=wait_ms / 1000):
        return False
    held[name] = lock
    return True


def unlock(name):
    try:
        held.pop(name).release()
        return True
    except LockError:
        return False
# [/lock]


def increment(key):
    client.set(key, int(client.get(key) or 0) + 1)


serve(lock, unlock, increment)
