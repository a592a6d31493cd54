"""The common part of the peers in Python. See test/interop/peer.hpp."""
import sys
import time


def increment_file(counter):
    with open(counter) as file:
        value = int(file.read() or 0)
    time.sleep(0.001)
    with open(counter, "w") as file:
        file.write(str(value + 1))


def serve(lock, unlock, increment=increment_file):
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *words = line.split()
        name = bytes.fromhex(words[0]).decode()
        if verb == "lock":
            said = "locked" if lock(name, int(words[1]), int(words[2])) else "busy"
        elif verb == "unlock":
            said = "unlocked" if unlock(name) else "lost"
        elif verb == "count":
            counter, times = words[1], int(words[2])
            for _ in range(times):
                assert lock(name, 10_000, 60_000)
                increment(counter)
                assert unlock(name)
            said = "counted"
        print(said, flush=True)
