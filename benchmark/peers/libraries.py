"""The compared libraries: installation, start and settings."""
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = Path(os.environ.get("LEASEHOLD_CACHE")
             or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "leasehold")


class Missing(Exception):
    """The toolchain of a library is not installed."""


class Library:
    tools = ()
    warm_up = 1  # seconds

    def __init__(self, name, version_file, pattern, settings, source=None, options=(), jobs=None):
        self.name = name
        self.settings = settings
        self.source = source or name  # the folder of its program
        self.options = options  # further arguments of its program
        self.jobs = jobs  # None: all
        self.version = re.search(pattern, (HERE / version_file).read_text())[1]

    def prepare(self, say):
        """Downloads and builds it. Returns its command."""
        missing = [tool for tool in self.tools if not shutil.which(tool)]
        if missing:
            raise Missing("not installed: " + ", ".join(missing))
        folder = CACHE / "benchmark_peers" / self.source
        folder.mkdir(parents=True, exist_ok=True)
        for file in (HERE / self.source).glob("*"):
            if file.is_file():
                shutil.copy2(file, folder)
        say(f"{self.name}: downloading and building it")
        return self.build(folder)


def run(folder, *words):
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise RuntimeError(f"{' '.join(words[:3])} failed: " + " / ".join(said[-5:]))


class Native(Library):
    """A program in C++, built with the project."""
    programs = None  # the folder of the built programs

    def __init__(self, name, settings, program, **more):
        super().__init__(name, ROOT / "CMakeLists.txt", r"project\([^)]*VERSION ([0-9.]+)",
                         settings, **more)
        self.program = program

    def prepare(self, say):
        if not self.programs:
            say(f"{self.name}: building it")
            run(ROOT, "bash", "-euc",
                ". cmake/setup; leasehold_setup g++ cmake ninja-build libssl-dev liblua5.1-0-dev"
                " ca-certificates;"
                "leasehold_configure release -DCMAKE_CXX_COMPILER=g++ -DLEASEHOLD_BENCHMARKS=ON;"
                f"leasehold_build release {self.program}")
        folder = self.programs or ROOT / "build/release/benchmark"
        program = Path(folder).resolve() / self.program
        if not program.exists():
            raise RuntimeError(f"{program} does not exist")
        return [str(program)]


class Python(Library):
    tools = ("python3",)

    def build(self, folder):
        if not importlib.util.find_spec("ensurepip"):
            raise Missing("not installed: python3-venv")
        if not (folder / "bin/python").exists():
            run(folder, "python3", "-m", "venv", str(folder))
        run(folder, "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r",
            "requirements.txt")
        return [str(folder / "bin/python"), str(folder / "peer.py")]


class Go(Library):
    tools = ("go",)

    def build(self, folder):
        shutil.copy2(HERE / "go_protocol.go", folder)
        run(folder, "go", "mod", "tidy")
        run(folder, "go", "build", "-o", "peer", ".")
        return [str(folder / "peer")]


class Node(Library):
    tools = ("node", "npm")

    def build(self, folder):
        run(folder, "npm", "install", "--silent", "--no-audit", "--no-fund")
        return ["node", str(folder / "peer.js")]


class Java(Library):
    tools = ("java", "javac", "mvn")
    warm_up = 10

    def build(self, folder):
        run(folder, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib")
        run(folder, "javac", "-cp", "lib/*", "-d", ".", "Peer.java")
        return ["java", "-XX:+UseSerialGC", "-cp", f"{folder}:{folder}/lib/*", "Peer"]


ALL = [
    Native("leasehold", "layout native; 1 connection for commands, 1 for notifications; renews",
           "peer_leasehold"),
    Native("leasehold_no_handoff", "the same, handoff_count = 0: each handoff through the server",
           "peer_leasehold", options=("no_handoff",), jobs=("hot_key", "waiters")),
    Native("leasehold_polling", "the same, on a loop that polls for 50 us before it sleeps",
           "peer_leasehold", options=("polling",), jobs=("uncontended",)),
    Native("floor", "bare Boost.Redis: SET NX PX, and a script that compares and deletes; "
           "1 connection; polls after 1 to 20 ms", "peer_floor"),
    Native("floor_polling", "the same, on a loop that polls for 50 us before it sleeps",
           "peer_floor", options=("polling",), jobs=("uncontended",)),
    Python("redis_py", "redis_py/requirements.txt", r"==(.*)",
           "asyncio, hiredis; blocking pool, 64 connections; lease 30 s; "
           "polls after 100 ms (default); the peer renews"),
    Go("redsync", "redsync/go.mod", r"redsync/v4 v(.*)",
       "go-redis, default pool; lease 8 s (default); polls after 50 to 250 ms (default), "
       "without limit; the peer renews"),
    Go("rueidislock", "rueidislock/go.mod", r"rueidis v(.*)",
       "1 connection, pipelined; three keys for each lock, of which two count (default); "
       "lease 5 s (default); renews"),
    Go("rueidislock_one_key", "rueidislock/go.mod", r"rueidis v(.*)",
       "KeyMajority 1, NoLoopTracking, TryNextAfter 5 s; else the same; not in jobs where a "
       "process waits for another: there it may wait forever for a free key",
       source="rueidislock", options=("one_key",),
       jobs=("uncontended", "held")),
    Node("node_redlock", "node_redlock/package.json", r'"redlock": "(.*)"',
         "ioredis, 1 connection; lease 30 s; polls after 200 to 300 ms (default), without limit; "
         "the peer renews"),
    Java("redisson", "redisson/pom.xml", r"redisson.version>(.*)</",
         "RLock, a thread for each task; default pools; lease 30 s (default); renews; "
         "warmed up for 10 s, except with a hundred processes"),
]
