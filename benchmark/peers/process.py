"""A running peer, and its cost."""
import json
import os
import selectors
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A peer has ended, has not answered in time, or has given a wrong answer."""


class Process:
    """A process that is killed at the end of the `with` statement."""

    def __init__(self, command, port, lease_ms=0):
        words, extra = command
        self._process = subprocess.Popen(
            [*words, str(port), str(lease_ms), *extra],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._name = os.path.basename(words[0])
        self._rest = b""
        self._errors = b""
        for pipe in (self._process.stdout, self._process.stderr):
            os.set_blocking(pipe.fileno(), False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Kills it. Returns the time before that, in microseconds since 1970."""
        at = time.time_ns() // 1000
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        return at

    def tell(self, *words):
        self._process.stdin.write(" ".join(map(str, words)).encode() + b"\n")
        try:
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed(self._last_words()) from None

    def answer(self, seconds=300):
        """Returns the next line that it writes."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as pipes:
            for pipe in (self._process.stdout, self._process.stderr):
                pipes.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = end - time.monotonic()
                if left <= 0:
                    raise Failed(f"no answer in {seconds:.0f} s")
                for key, _ in pipes.select(left):
                    part = os.read(key.fd, 1 << 20)
                    if key.fileobj is self._process.stdout:
                        if not part:
                            raise Failed(self._last_words())
                        self._rest += part
                    elif part:
                        self._errors = (self._errors + part)[-4000:]
                    else:
                        pipes.unregister(key.fileobj)
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def ask(self, *words, seconds=300):
        self.tell(*words)
        return self.answer(seconds)

    def cpu(self):
        """Returns the CPU seconds, user and system, of all its threads."""
        with open(f"/proc/{self._process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident(self):
        """Returns the resident memory in bytes."""
        with open(f"/proc/{self._process.pid}/status") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise Failed("the process has ended")

    def _last_words(self):
        try:
            self._process.wait(5)
            self._errors += self._process.stderr.read() or b""
        except subprocess.TimeoutExpired:
            pass
        lines = self._errors.decode(errors="replace").strip().splitlines()
        why = " / ".join(lines[-3:]) or f"code {self._process.returncode}"
        return "the process ended: " + why
