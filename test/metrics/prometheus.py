"""A Prometheus of the test's own reads the example, answers each query of the dashboard, and has
the series, with their labels, that the alerts look at.

prometheus.py PROMETHEUS EXAMPLE FOLDER; the folder is monitoring/
"""

import http.client
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

prometheus, example = sys.argv[1:3]
monitoring = Path(sys.argv[3]).resolve()
LIMIT = time.monotonic() + 200


@contextmanager
def running(command, **more):
    process = subprocess.Popen(command, **more)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def queries():
    panels = json.loads((monitoring / "grafana_dashboard.json").read_text())["panels"]
    for target in (target for panel in panels for target in panel.get("targets", [])):
        yield target["expr"].replace("$__rate_interval", "1m").replace("$lock", ".*")
    yield from re.findall(r"leasehold_\w+(?:{[^}]*})?", (monitoring / "alerts.yml").read_text())


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ask(server, query):
    """What it answers with: an error of the query is one of the dashboard."""
    url = f"http://{server}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as refused:
        if refused.code in (400, 422):
            sys.exit(f"error: {query}\n{refused.read().decode()}")
        return []  # not ready yet
    except (OSError, http.client.HTTPException):
        return []


def are_rules_well(server):
    """There are alerts, and each was evaluated."""
    while True:
        with urllib.request.urlopen(f"http://{server}/api/v1/rules", timeout=30) as answer:
            groups = json.load(answer)["data"]["groups"]
        health = [rule["health"] for group in groups for rule in group["rules"]]
        if "unknown" not in health or time.monotonic() > LIMIT:
            return health != [] and set(health) == {"ok"}
        time.sleep(0.5)


def answered(server, process):
    """False when it ended: another has taken the port."""
    waiting = list(queries())
    while waiting:
        if process.poll() is not None:
            return False
        if time.monotonic() > LIMIT:
            sys.exit("error: no answer to\n" + "\n".join(waiting))
        waiting = [query for query in waiting if not ask(server, query)]
        time.sleep(0.5)
    return True


with tempfile.TemporaryDirectory() as folder, running(
    [example, "--serve"], stdout=subprocess.PIPE, text=True
) as served:
    url = served.stdout.readline()
    target = re.fullmatch(r"http://([0-9.:]+)/metrics\n", url)[1]
    text = (monitoring / "prometheus.yml").read_text()
    assert "127.0.0.1:9464" in text
    # Two looks make a rate.
    (Path(folder) / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
        + f"rule_files: [{monitoring}/alerts.yml]\n"
        + text.replace("127.0.0.1:9464", target)
    )
    for _ in range(5):
        server = f"127.0.0.1:{free_port()}"
        command = [
            prometheus,
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={server}",
        ]
        with open(f"{folder}/log", "w") as log:
            with running(command, stdout=log, stderr=log) as process:
                if answered(server, process):
                    assert are_rules_well(server), "rules that are not well"
                    print("answered:", len(list(queries())), "queries")
                    sys.exit(0)
    sys.exit("error: it does not run:\n" + Path(f"{folder}/log").read_text())
