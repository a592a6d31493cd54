"""A peer of the interoperation tests: `etcdctl lock`. See test/interop/peer.hpp."""
import select
import signal
import subprocess
import sys

from lines import serve

address, root = sys.argv[1:3]
held = {}


def end(etcdctl):
    etcdctl.send_signal(signal.SIGINT)
    return etcdctl.wait() == 0


def lock(name, lease_ms, wait_ms):
    etcdctl = subprocess.Popen(["etcdctl", "--endpoints", address, "lock", f"{root}/{name}"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # It prints its key when it has the lock.
    if not select.select([etcdctl.stdout], [], [], wait_ms / 1000)[0]:
        end(etcdctl)
        return False
    said = etcdctl.stdout.readline()
    assert said.startswith(f"{root}/{name}/"), said
    held[name] = etcdctl
    return True


def unlock(name):
    with held.pop(name) as etcdctl:
        return end(etcdctl)


serve(lock, unlock)
