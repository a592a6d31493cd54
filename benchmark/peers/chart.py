"""Bar charts as SVG: a panel for each figure, a bar for each library, and a line from the smallest
to the largest measured value."""
from html import escape

WIDTH, LABEL, VALUE, BAR, GAP, TOP = 760, 170, 190, 18, 8, 44
COLOURS = ("#9aa5b1", "#1f6feb")


def text(x, y, words, size=12, **attributes):
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}"{more}>{escape(words)}</text>'


def panel(title, rows, y):
    """`rows` is (name, median, least, most, own, shown). Returns its SVG and its height."""
    most = max((row[3] for row in rows), default=0) or 1
    scale = (WIDTH - LABEL - VALUE) / most
    parts = [text(12, y + 16, title, 13, font_weight="bold")]
    y += 26
    for name, median, low, high, own, shown in rows:
        middle = y + BAR / 2
        parts += [
            text(LABEL - 8, middle + 4, name, text_anchor="end"),
            f'<rect x="{LABEL}" y="{y}" width="{max(median * scale, 1):.1f}" height="{BAR}" '
            f'fill="{COLOURS[own]}"/>',
            f'<path d="M{LABEL + low * scale:.1f} {middle}H{LABEL + high * scale:.1f}" '
            'stroke="#222" stroke-width="1.5"/>',
            text(LABEL + high * scale + 6, middle + 4, shown),
        ]
        y += BAR + GAP
    return parts, 26 + len(rows) * (BAR + GAP) + 12


def svg(title, panels, footer):
    parts, y = [text(12, 24, title, 16, font_weight="bold")], TOP
    for panel_title, rows in panels:
        drawn, height = panel(panel_title, rows, y)
        parts += drawn
        y += height
    for line in footer:
        parts.append(text(12, y + 8, line, 10, fill="#555"))
        y += 14
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" width="{WIDTH}" '
        f'height="{y + 8}" font-family="sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""])
