"""Compares lock libraries at one Redis server. Run by benchmark/run --peers."""
import argparse
import datetime
import os
import platform
import signal
import sys
import time
from pathlib import Path

import jobs
import libraries
from process import Failed
from report import Results
from server import Server


def positive(kind):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not value > 0:
            raise argparse.ArgumentTypeError(f'"{text}" is not a number above 0')
        return value
    return parse


def parse(words):
    names = [each.name for each in libraries.ALL]
    parser = argparse.ArgumentParser(
        prog="benchmark/run --peers", allow_abbrev=False,
        description="Downloads and builds other lock libraries, and runs the same jobs with them "
        "and with this library at one Redis server. Reports and skips a library whose toolchain is "
        "not installed. Progress goes to standard error. A full run takes two to three hours.")
    parser.add_argument("--job", action="append", choices=jobs.ALL, metavar="JOB",
                        help="run only this job; repeatable: " + ", ".join(jobs.ALL))
    parser.add_argument("--peer", action="append", choices=names, metavar="PEER",
                        help="run only this library; repeatable: " + ", ".join(names))
    parser.add_argument("--rounds", type=positive(int), default=5, metavar="N",
                        help="number of rounds of each job; default: 5")
    parser.add_argument("--seconds", type=positive(float), metavar="S",
                        help="time of a measurement; default: 5 to 30, depending on the job")
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    parser.add_argument("--add", action="append", default=[], metavar="FILE",
                        help="add the figures that an earlier run on this machine wrote with "
                        "--json, for the jobs that this run does not measure")
    parser.add_argument("--svg", metavar="DIR",
                        help="write charts: one file for each job, and overview.svg")
    parser.add_argument("--quick", action="store_true",
                        help="one round, tiny numbers: checks that it works, does not measure "
                        "speed")
    parser.add_argument("--programs", metavar="DIR",
                        help="folder of the built programs peer_leasehold and peer_floor; default: "
                        "builds them")
    return parser.parse_args(words)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return platform.machine()


class Progress:
    def __init__(self):
        self._began = time.monotonic()

    def __call__(self, words):
        print(f"[{time.monotonic() - self._began:5.0f} s] {words}", file=sys.stderr, flush=True)


def prepare(chosen, say, results):
    """Returns (library, its command) of those that are available."""
    ready = []
    for library in chosen:
        try:
            ready.append((library, library.prepare(say)))
        except libraries.Missing as why:
            say(f"{library.name}: skipped: {why}")
            results.skip(f"{library.name}: {why}")
        except RuntimeError as why:
            say(f"{library.name}: FAILED: {why}")
            results.failures.append(f"{library.name}: {why}")
    return ready


def main():
    given = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the programs, too
    libraries.Native.programs = given.programs
    rounds = 1 if given.quick else given.rounds
    server = Server(int(os.environ["LEASEHOLD_TCP_URL"].rpartition(":")[2]))
    say = Progress()
    chosen = [each for each in libraries.ALL if not given.peer or each.name in given.peer]
    results = Results({
        "date": datetime.date.today().isoformat(),
        "server": server.version() + ", on this machine, over TCP",
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "rounds": rounds,
    }, chosen)
    wanted = given.job or list(jobs.ALL)
    for file in given.add:
        try:
            results.read_json(file, wanted)
        except (OSError, ValueError) as why:
            print(f"error: --add {file}: {why}", file=sys.stderr)
            return 2
    ready = prepare(chosen, say, results)
    for job in wanted:
        taking_part = [each for each in ready if not each[0].jobs or job in each[0].jobs]
        for round_ in range(rounds):
            # A B C, then B C A, so that the conditions are the same for all.
            first = round_ % max(len(taking_part), 1)
            for library, words in taking_part[first:] + taking_part[:first]:
                say(f"{job}, round {round_ + 1} of {rounds}: {library.name}")
                server.call("FLUSHALL")
                contest = jobs.Contest(library, words, server, given.seconds, given.quick)
                try:
                    for situation, figures in jobs.ALL[job](contest):
                        results.add(job, library.name, situation, figures)
                except jobs.TooLarge as why:
                    say(f"skipped: {why}")
                    results.skip(f"{library.name}, {job}: {why}")
                except Failed as why:
                    say(f"FAILED: {why}")
                    results.failures.append(f"{library.name}, {job}: {why}")
    results.print()
    if given.json:
        results.write_json(given.json)
    if given.svg:
        results.write_charts(given.svg)
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
