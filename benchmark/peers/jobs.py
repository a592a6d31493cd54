"""The jobs. Each gets a contest, which starts one library, and yields (situation, {figure: number})
for each situation. README.md in this folder explains the figures."""
import contextlib
import math
import random
import time
from collections import Counter

from process import Process

US_PER_S = 1e6


class TooLarge(Exception):
    """This machine has too little memory for the job."""


class Contest:
    """One library in one round."""

    def __init__(self, library, words, server, seconds, quick):
        self.library = library
        self.server = server
        self.quick = quick
        self._command = (words, library.options)
        self._seconds = seconds

    def seconds(self, usual):
        return self._seconds or (0.3 if self.quick else usual)

    def pick(self, usual, quick):
        return quick if self.quick else usual

    def warm_up(self, processes, keys, tasks):
        time_ = 0.1 if self.quick else self.library.warm_up
        for each in processes:
            each.tell("cycle", keys, tasks, time_)
        for each in processes:
            each.answer(time_ + 60)

    @contextlib.contextmanager
    def processes(self, count, lease_ms=0):
        with contextlib.ExitStack() as stack:
            def start():
                return stack.enter_context(Process(self._command, self.server.port, lease_ms))

            first = start()
            self.key = first.answer()["key"]
            if first.resident() * count > memory_there():
                raise TooLarge(f"{count} processes need more memory than is available")
            others = [start() for _ in range(count - 1)]
            for each in others:
                each.answer()
            yield [first, *others]


def memory_there():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvail")) * 1024


def quantile(steps, part):
    """Returns a quantile of a histogram in steps of one percent, in microseconds."""
    left = part * (sum(steps.values()) - 1)
    for step in sorted(steps):
        left -= steps[step]
        if left < 0:
            return math.exp(step / 100)
    return math.nan


def merged(histograms):
    total = Counter()
    for each in histograms:
        total.update({int(step): count for step, count in each.items()})
    return total


def jain(shares):
    """Returns 1 if all shares are equal, 1 / n if one has everything."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else math.nan


def uncontended(contest):
    with contest.processes(1) as [peer]:
        contest.warm_up([peer], 64, 64)
        for tasks in contest.pick((1, 64, 1000), (1, 16)):
            time_ = contest.seconds(5)
            server_cpu, own_cpu = contest.server.cpu(), peer.cpu()
            seen = peer.ask("cycle", tasks, tasks, time_, seconds=time_ + 60)
            count = max(seen["count"], 1)
            cycles = merged([seen["cycles"]])
            yield "1 task" if tasks == 1 else f"{tasks} tasks", {
                "cycles/s": seen["count"] / time_,
                "p50 us": quantile(cycles, 0.5),
                "p99 us": quantile(cycles, 0.99),
                "server CPU us": (contest.server.cpu() - server_cpu) / count * US_PER_S,
                "client CPU us": (peer.cpu() - own_cpu) / count * US_PER_S,
            }


def hot_key(contest):
    for processes, tasks in contest.pick(((2, 2), (4, 8), (8, 2)), ((2, 2),)):
        with contest.processes(processes) as peers:
            contest.warm_up(peers, 1, tasks)
            time_ = contest.seconds(20)
            server = contest.server
            commands, cpu = server.commands(), server.cpu()
            own_cpu = sum(each.cpu() for each in peers)
            end = time.monotonic() + time_
            for each in peers:
                each.tell("cycle", 1, tasks, time_)
            looks = held = 0
            while time.monotonic() < end:
                held += server.call("EXISTS", contest.key)
                looks += 1
                time.sleep(random.uniform(0.005, 0.015))  # irregular, so that it is independent
            commands, cpu = server.commands() - commands, server.cpu() - cpu
            own_cpu = sum(each.cpu() for each in peers) - own_cpu
            answers = [each.answer(time_ + 60) for each in peers]
            counts = [each["count"] for each in answers]
            waits = merged(each["waits"] for each in answers)
            total = max(sum(counts), 1)
            yield f"{processes} processes x {tasks} tasks", {
                "handoffs/s": sum(counts) / time_,
                "commands each": commands / total,
                "server CPU us": cpu / total * US_PER_S,
                "client CPU us": own_cpu / total * US_PER_S,
                "wait p50 ms": quantile(waits, 0.5) / 1000,
                "wait p99 ms": quantile(waits, 0.99) / 1000,
                "wait max ms": quantile(waits, 1) / 1000,
                "Jain": jain(counts),
                "held %": 100 * held / looks,
            }


def handoff(contest):
    with contest.processes(2) as peers:
        contest.warm_up(peers, 1, 1)
        times = Counter()
        end = time.monotonic() + contest.seconds(20)
        holder, waiter = peers
        holder.ask("hold", 1)
        while time.monotonic() < end:
            waiter.tell("hold", 1)
            time.sleep(random.uniform(0.03, 0.13))  # at any phase of a poll
            released = holder.ask("drop")["at"]
            took = max(waiter.answer(60)["at"] - released, 1)
            times[round(100 * math.log(took))] += 1
            holder, waiter = waiter, holder
    yield "2 processes", {"p50 us": quantile(times, 0.5), "p99 us": quantile(times, 0.99),
                          "max us": quantile(times, 1)}


def waiters(contest):
    for processes, tasks in contest.pick(((1, 1000), (100, 1)), ((1, 20), (4, 1))):
        with contest.processes(processes + 1) as [holder, *peers]:
            if processes == 1:
                contest.warm_up(peers, 64, 64)
            holder.ask("hold", 1)
            for each in peers:
                each.tell("once", tasks)
            time.sleep(contest.pick(3, 0.3))  # connections and first polls end before
            time_ = contest.seconds(5)
            commands, cpu, begin = contest.server.commands(), contest.server.cpu(), time.monotonic()
            time.sleep(time_)
            commands, cpu = contest.server.commands() - commands, contest.server.cpu() - cpu
            time_ = time.monotonic() - begin
            released = holder.ask("drop")["at"]
            last = max(each.answer(600)["at"] for each in peers)
            yield f"{processes} process{'es' * (processes > 1)} x {tasks}", {
                "commands/s idle": commands / time_,
                "server CPU % idle": cpu / time_ * 100,
                "all served ms": (last - released) / 1000,
            }


def held(contest):
    count = contest.pick(10_000, 200)
    time_ = contest.seconds(30)
    server = contest.server
    with contest.processes(1, contest.pick(max(int(time_ * 1000 / 3), 300), 1000)) as [peer]:
        contest.warm_up([peer], 64, 64)
        for verb in (("hold", min(count, 1000)), ("drop",)):  # allocates the memory needed once
            peer.ask(*verb)
        resident, memory = peer.resident(), server.memory()
        others = server.call("DBSIZE")
        peer.ask("hold", count)
        resident, memory = peer.resident() - resident, server.memory() - memory
        keys = max(server.call("DBSIZE") - others, 1)
        cpu, own_cpu, begin = server.cpu(), peer.cpu(), time.monotonic()
        time.sleep(time_)
        cpu, own_cpu = server.cpu() - cpu, peer.cpu() - own_cpu
        time_ = time.monotonic() - begin
        yield f"{count} locks", {
            "client CPU %": own_cpu / time_ * 100,
            "server CPU %": cpu / time_ * 100,
            "client bytes each": resident / count,
            "server bytes each": memory / count,
            "still held %": (server.call("DBSIZE") - others) / keys * 100,
        }


def killed(contest):
    lease_ms = contest.pick(3000, 600)
    times = []
    for _ in range(contest.pick(3, 1)):
        contest.server.call("FLUSHALL")
        with contest.processes(2, lease_ms) as [holder, waiter]:
            contest.warm_up([holder, waiter], 64, 64)
            holder.ask("hold", 1)
            waiter.tell("hold", 1)
            time.sleep(random.uniform(0.3, 0.8) * lease_ms / 1000)
            died = holder.kill()
            times.append((waiter.answer(60)["at"] - died) / 1000)
    times.sort()
    yield f"lease {lease_ms} ms", {"median ms": times[len(times) // 2], "max ms": times[-1]}


ALL = {job.__name__: job for job in (uncontended, hot_key, handoff, waiters, held, killed)}

TITLES = {
    "uncontended": "acquire + release on distinct keys, one process",
    "hot_key": "one key, acquired and released repeatedly; Jain over processes",
    "handoff": "from the call of release in one process to the grant in another",
    "waiters": "all wait for one held key, then each acquires it once",
    "held": "held locks with renewals in one process, for three lease times",
    "killed": "from the SIGKILL of the holder to the next grant",
}
