"""A client of kazoo for a test: kazoo_peer.py PORT PATH. It prints "ready", then answers each line:
"lock" with "locked", when it has the lock, and "unlock" with "unlocked"."""
import sys

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock

port, path = sys.argv[1:3]
client = KazooClient("127.0.0.1:" + port)
client.start()
lock = Lock(client, path, extra_lock_patterns=["-lock-"])
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "lock":
        lock.acquire()
        print("locked", flush=True)
    else:
        lock.release()
        print("unlocked", flush=True)
client.stop()
