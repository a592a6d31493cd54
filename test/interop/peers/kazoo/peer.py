"""A peer of the interoperation tests: kazoo's Lock. See test/interop/peer.hpp."""
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from lines import serve

address, root = sys.argv[1:3]
client = KazooClient(address, timeout=30)
client.start(timeout=60)
held = {}


# [lock]
def lock(name, lease_ms, wait_ms):
    lock = client.Lock(f"{root}/{name}", extra_lock_patterns=["-lock-"])
    try:
        lock.acquire(timeout=wait_ms / 1000)
    except LockTimeout:
        return False
    held[name] = lock
    return True


def unlock(name):
    return held.pop(name).release()
# [/lock]


serve(lock, unlock)
