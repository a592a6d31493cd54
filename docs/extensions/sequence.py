"""Draws sequence diagrams from text, as SVG within the page: no program and no network is needed.
The text is a part of Mermaid's, which a forge draws by itself:

    ```mermaid
    sequenceDiagram
        title What the diagram shows
        participant A as client A
        participant server
        A->>server: acquire
        server-->>A: granted
        activate A
        A-xserver: a message that is lost
        Note over A: paused
        deactivate A
        Note over A,server: some time later
    ```

`->>` is a message, `-->>` an answer, `-x` a message that never arrives. Between `activate` and
`deactivate` the line of the participant is a bar. A note over two participants is a pause.
"""

import re
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

CHARACTER = 6.9  # width of one, on average, at the size below
SIZE = 13
ROW = 34
TOP = 44
MARGIN = 20
BAR = 10

PARTICIPANT = re.compile(r"participant (?P<name>\w+)(?: as (?P<title>.+))?$")
LINE = re.compile(
    r"(?P<mark>activate|deactivate) (?P<actor>\w+)$"
    r"|Note over (?P<at>\w+): (?P<note>.+)$"
    r"|Note over (?P<first>\w+),(?P<last>\w+): (?P<pause>.+)$"
    r"|(?P<from>\w+?)(?P<arrow>-->>|->>|-x)(?P<to>\w+): (?P<text>.+)$"
)


class Diagram:
    def __init__(self, lines):
        if lines[0] != "sequenceDiagram" or not lines[1].startswith("title "):
            raise ValueError("the first lines are `sequenceDiagram` and `title …`")
        self.title = lines[1].removeprefix("title ")
        self.names, self.titles = [], []
        rest = lines[2:]
        while rest and (match := PARTICIPANT.match(rest[0])):
            self.names.append(match["name"])
            self.titles.append(match["title"] or match["name"])
            rest = rest[1:]
        self.steps = [self.step(line) for line in rest]

    def step(self, line):
        match = LINE.match(line)
        if not match or "#" in line or ";" in line:
            raise ValueError(f'"{line}" is no step of a sequence diagram')
        step = {key: value for key, value in match.groupdict().items() if value is not None}
        for key in ("actor", "at", "from", "to", "first", "last"):
            if key in step:
                if step[key] not in self.names:
                    raise ValueError(f'"{step[key]}" in "{line}" is not one of the participants')
                step[key] = self.names.index(step[key])
        return step

    def columns(self):
        """Returns the middle of each actor's line, with room for the texts between them."""
        gaps = [
            (width(left) + width(right)) / 2 + 24
            for left, right in zip(self.titles, self.titles[1:])
        ]
        for step in self.steps:
            if "text" in step:
                low, high = sorted((step["from"], step["to"]))
                share = (width(step["text"]) + 40) / max(1, high - low)
                for gap in range(low, high):
                    gaps[gap] = max(gaps[gap], share)
            elif "note" in step:
                half = width(step["note"]) / 2 + 24
                for gap in (step["at"] - 1, step["at"]):
                    if 0 <= gap < len(gaps):
                        gaps[gap] = max(gaps[gap], half)
        sides = [width(self.titles[0]) / 2, width(self.titles[-1]) / 2]
        for step in self.steps:
            if "note" in step:
                for side, last in ((0, 0), (1, len(self.names) - 1)):
                    if step["at"] == last:
                        sides[side] = max(sides[side], width(step["note"]) / 2 + 10)
        columns = [MARGIN + sides[0]]
        for gap in gaps:
            columns.append(columns[-1] + gap)
        return columns, columns[-1] + sides[1] + MARGIN

    def draw(self):
        columns, total = self.columns()
        shapes, bars, began = [], [], {}
        y = TOP + 12
        for step in self.steps:
            if "mark" in step:
                actor = step["actor"]
                if step["mark"] == "activate":
                    began[actor] = y
                else:
                    bars.append(bar(columns[actor], began.pop(actor), y + 4))
                continue
            y += ROW
            if "pause" in step:
                shapes.append(text(total / 2, y - 6, step["pause"], "pause"))
                shapes.append(
                    f'<path class="pause" d="M{MARGIN} {y + 4}H{total - MARGIN:.0f}"/>'
                )
            elif "note" in step:
                half = width(step["note"]) / 2 + 8
                x = columns[step["at"]]
                shapes.append(
                    f'<rect class="note" x="{x - half:.0f}" y="{y - 18}" '
                    f'width="{2 * half:.0f}" height="24" rx="4"/>'
                )
                shapes.append(text(x, y - 2, step["note"]))
            else:
                shapes += message(columns, y, step)
        bottom = y + ROW / 2
        for actor, top in began.items():
            bars.append(bar(columns[actor], top, bottom))
        heads = []
        for x, name in zip(columns, self.titles):
            heads.append(f'<path class="life" d="M{x:.0f} {TOP - 8}V{bottom:.0f}"/>')
            half = width(name) / 2 + 10
            heads.append(
                f'<rect class="actor" x="{x - half:.0f}" y="8" width="{2 * half:.0f}" '
                'height="28" rx="4"/>'
            )
            heads.append(text(x, 27, name))
        size = f'width="{total:.0f}" height="{bottom + 8:.0f}"'
        return (
            f'<svg class="sequence" role="img" viewBox="0 0 {total:.0f} {bottom + 8:.0f}" {size} '
            f'font-size="{SIZE}"><title>{escape(self.title)}</title>'
            + "".join(heads + bars + shapes)
            + "</svg>"
        )


def width(words):
    return len(words) * CHARACTER


def text(x, y, words, kind="text"):
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(words)}</text>'


def bar(x, top, bottom):
    return (
        f'<rect class="hold" x="{x - BAR / 2:.0f}" y="{top:.0f}" width="{BAR}" '
        f'height="{bottom - top:.0f}"/>'
    )


def message(columns, y, step):
    start, end = columns[step["from"]], columns[step["to"]]
    way = 1 if end > start else -1
    start += way * BAR / 2
    end -= way * BAR / 2
    words = text((start + end) / 2, y - 6, step["text"])
    if step["arrow"] == "-x":
        end = start + (end - start) * 0.7
        head = f"M{end - 5:.0f} {y - 5}l10 10m0 -10l-10 10"
    else:
        head = f"M{end - way * 8:.0f} {y - 4}L{end:.0f} {y}L{end - way * 8:.0f} {y + 4}"
    kind = "answer" if step["arrow"] == "-->>" else "message"
    return [
        f'<path class="{kind}" d="M{start:.0f} {y}H{end:.0f}"/>',
        f'<path class="message" d="{head}"/>',
        words,
    ]


class Sequence(SphinxDirective):
    has_content = True

    def run(self):
        lines = [line.strip() for line in self.content if line.strip()]
        try:
            diagram = Diagram(lines)
            drawn = diagram.draw()
        except (ValueError, KeyError, IndexError) as failure:
            raise self.error(f"mermaid: {failure}") from failure
        caption = nodes.caption("", diagram.title)
        return [nodes.figure("", nodes.raw("", drawn, format="html"), caption)]


def setup(app):
    app.add_directive("mermaid", Sequence)
    return {"parallel_read_safe": True}
