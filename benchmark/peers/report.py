"""The figures as an aligned table, as JSON, and as charts."""
import json
import statistics
import textwrap
from pathlib import Path

import chart
import jobs

# The panels of the charts: these figures, for all situations of the job.
CHARTS = {
    "uncontended": ("cycles/s", "server CPU us", "client CPU us"),
    "hot_key": ("handoffs/s", "wait p99 ms", "Jain"),
    "handoff": ("p50 us", "p99 us"),
    "waiters": ("commands/s idle", "all served ms"),
    "held": ("client CPU %", "server CPU %", "client bytes each", "server bytes each"),
    "killed": ("median ms", "max ms"),
}

# The panels of the overview: of each job the last situation, which has most tasks.
OVERVIEW = (
    ("uncontended", "cycles/s", "free locks: acquires and releases per second; more is better"),
    ("uncontended", "server CPU us", "free locks: CPU of the server for each, us; less is better"),
    ("hot_key", "handoffs/s", "a contended lock: handoffs per second; more is better"),
    ("hot_key", "wait max ms", "a contended lock: longest wait, ms; less is better"),
    ("waiters", "commands/s idle", "commands per second while all wait; less is better"),
    ("held", "client CPU %", "held locks with renewals: CPU of the program, %; less is better"),
)

# The facts that must be the same in two runs, so that one table can have the figures of both.
SAME = ("server", "processor", "system")


def shown(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


class Results:
    """The figures of each library for each job and situation, one value for each round."""

    def __init__(self, about, libraries):
        self.about = about
        self.libraries = libraries
        self._values = {job: {} for job in jobs.ALL}
        self.failures = []
        self.skipped = []

    def add(self, job, library, situation, figures):
        of = self._values[job].setdefault(situation, {})
        for figure, value in figures.items():
            values = of.setdefault(figure, {}).setdefault(library, [])
            if value == value:  # not NaN, such as a quantile of an empty histogram
                values.append(value)

    def skip(self, why):
        if why not in self.skipped:  # each round reports it
            self.skipped.append(why)

    def _measured(self):
        return [(job, situations) for job, situations in self._values.items() if situations]

    def summary(self):
        return [{"job": job, "situation": situation, "figure": figure, "peer": library,
                 "median": statistics.median(values), "min": min(values), "max": max(values),
                 "rounds": values}
                for job, situations in self._values.items()
                for situation, figures in situations.items()
                for figure, libraries in figures.items()
                for library, values in libraries.items() if values]

    def write_json(self, path):
        libraries = [{"name": each.name, "version": each.version, "settings": each.settings}
                     for each in self.libraries]
        Path(path).write_text(json.dumps(
            {"machine": self.about, "peers": libraries, "skipped": self.skipped,
             "failures": self.failures,
             "figures": self.summary()}, indent=1) + "\n")

    def read_json(self, path, measured_now):
        """Adds the figures of a file of write_json, except for the jobs of this run."""
        try:
            earlier = json.loads(Path(path).read_text())
            machine, skipped, failures = (earlier[each]
                                          for each in ("machine", "skipped", "failures"))
            rows = [(each["job"], each["peer"], each["situation"], each["figure"], each["rounds"])
                    for each in earlier["figures"] if each["job"] not in measured_now]
            measured = f"{machine['date']}, {machine['rounds']} rounds"
        except (json.JSONDecodeError, KeyError, TypeError) as why:
            raise ValueError("is not what --json writes") from why
        for fact in SAME:
            if machine.get(fact) != self.about[fact]:
                raise ValueError(f"was measured with another {fact}: {machine.get(fact)}, "
                                 f"here {self.about[fact]}")
        for job, library, situation, figure, values in rows:
            for value in values:
                self.add(job, library, situation, {figure: value})
        for each in skipped:
            self.skip(each)
        self.failures += failures
        names = ", ".join(dict.fromkeys(job for job, *_ in rows))
        self.about[names or f"nothing of {Path(path).name}"] = f"measured {measured}"

    def facts(self):
        return [f"{name}: {value}" for name, value in self.about.items()]

    def print(self):
        for line in self.facts():
            print(line)
        width = max(len(f"{each.name} {each.version}") for each in self.libraries)
        for each in self.libraries:
            lines = textwrap.wrap(each.settings, 98 - width)
            print(f"{each.name + ' ' + each.version:{width}}  {lines[0]}")
            for line in lines[1:]:
                print(" " * (width + 2) + line)
        for job, situations in self._measured():
            print(f"\n{job}: {jobs.TITLES[job]}; median (least to most)")
            for situation, figures in situations.items():
                self._print_table(situation, figures)
        for each in self.skipped:
            print(f"\nskipped: {each}")
        for failure in self.failures:
            print(f"\nFAILED: {failure}")

    def _print_table(self, situation, figures):
        table = [[situation, *figures]]
        for library in self.libraries:
            row = [library.name]
            for of in figures.values():
                values = of.get(library.name)
                cell = shown(statistics.median(values)) if values else "-"
                if values and len(values) > 1:
                    cell += f" ({shown(min(values))} to {shown(max(values))})"
                row.append(cell)
            if any(library.name in of for of in figures.values()):
                table.append(row)
        widths = [max(map(len, column)) for column in zip(*table)]
        print()
        for row in table:
            print("  " + row[0].ljust(widths[0]) +
                  "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])))

    def write_charts(self, folder):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        versions = ", ".join(f"{each.name} {each.version}" for each in self.libraries)
        settings = [f"{each.name}: {each.settings}" for each in self.libraries]
        footer = [line for paragraph in ("; ".join(self.facts()), versions, *settings)
                  for line in textwrap.wrap(paragraph, 125)]
        for job, situations in self._measured():
            panels = [(f"{figure} - {situation}", self._bars(figures[figure]))
                      for figure in CHARTS[job]
                      for situation, figures in situations.items()]
            (folder / f"{job}.svg").write_text(
                chart.svg(f"{job}: {jobs.TITLES[job]}", panels, footer))
        overview = []
        for job, figure, title in OVERVIEW:
            if self._values[job]:
                situation, figures = list(self._values[job].items())[-1]
                overview.append((f"{title} ({situation})", self._bars(figures[figure])))
        if overview:
            (folder / "overview.svg").write_text(
                chart.svg("Locks in Redis compared", overview, footer))

    def _bars(self, of):
        bars = []
        for library in self.libraries:
            values = of.get(library.name)
            if values:
                median = statistics.median(values)
                bars.append((library.name, median, max(min(values), 0), max(*values, 0),
                             library.name.startswith("leasehold"), shown(median)))
        return bars
