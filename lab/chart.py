"""Small line and bar charts as SVG text: readable at a phone's width, in print, and without colour (markers differ)."""
import html
import math

WIDTH, PLOT_HEIGHT = 380, 210
LEFT, RIGHT, TOP, AXIS = 52, 12, 10, 36
LEGEND_ROW = 17
# Okabe and Ito's palette: told apart by colour-blind readers too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#8a6d3b")
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "ring")


def number(value):
    """Three digits and a k or M: axis labels and bars."""
    for limit, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{suffix}"
    return f"{value:.3g}"


def ticks(highest, count=4):
    """Round values from 0 to just above the highest."""
    if highest <= 0:
        return [0, 1]
    raw = highest / count
    size = 10 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    return [step * index for index in range(math.ceil(highest / step - 1e-9) + 1)]


def _marker(kind, x, y, colour):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="{colour}"/>'
    if kind == "ring":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="#fff" stroke="{colour}" stroke-width="1.6"/>'
    if kind == "square":
        return f'<rect x="{x - 3.1:.1f}" y="{y - 3.1:.1f}" width="6.2" height="6.2" fill="{colour}"/>'
    if kind == "cross":
        return f'<path d="M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6" stroke="{colour}" stroke-width="1.8"/>'
    shape = [(0, -4), (4, 3), (-4, 3)] if kind == "triangle" else [(0, -4.4), (4.4, 0), (0, 4.4), (-4.4, 0)]
    return f'<polygon points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in shape)}" fill="{colour}"/>'


def _text(x, y, text, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(str(text))}</text>'


def _frame(y_label, x_label, y_ticks, y_at):
    """Grid lines and axis words."""
    parts = [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_at(value):.1f}" y2="{y_at(value):.1f}" class="grid"/>'
             + _text(LEFT - 6, y_at(value) + 4, number(value), "end") for value in y_ticks]
    middle = TOP + (PLOT_HEIGHT - TOP) / 2
    parts.append(_text(13, middle, y_label, extra=f' transform="rotate(-90 13 {middle:.1f})"'))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, PLOT_HEIGHT + 31, x_label))
    return parts


def _document(body, height, description):
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(description, quote=True)}" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(body)}</svg>')


def lines(series, x_label, y_label, categorical=True, marks=()):
    """A line chart.

    `series` is a list of dicts: label; points, a list of (x, y) or (x, y, low, high), the last two drawn as a bar of spread;
    dashed for predicted ones; index for a colour kept over several charts. Categorical x values stand at equal distances in
    their order; else x is a number from 0. `marks` are x values with a vertical line (a checkpoint).
    """
    series = [one for one in series if one["points"]]
    if not series:
        return ""
    xs = list(dict.fromkeys(point[0] for one in series for point in one["points"]))
    if categorical and all(isinstance(x, (int, float)) for x in xs):
        xs.sort()
    span = WIDTH - RIGHT - LEFT
    inset = 14 if categorical else 0
    last = max((x for x in xs), default=1) if not categorical else None

    def x_at(x):
        if categorical:
            return LEFT + inset + (span - 2 * inset) * (xs.index(x) / max(1, len(xs) - 1) if len(xs) > 1 else 0.5)
        return LEFT + span * x / (last or 1)

    y_ticks = ticks(max(max(point[1:]) for one in series for point in one["points"]))

    def y_at(y):
        return PLOT_HEIGHT - (PLOT_HEIGHT - TOP) * y / y_ticks[-1]

    body = _frame(y_label, x_label, y_ticks, y_at)
    for x in xs if categorical else [x for x in ticks(last, 5) if x == int(x)]:
        if categorical or x <= last:
            body.append(_text(x_at(x), PLOT_HEIGHT + 15, x if categorical else number(x)))
    for x in marks:
        body.append(f'<line x1="{x_at(x):.1f}" x2="{x_at(x):.1f}" y1="{TOP}" y2="{PLOT_HEIGHT}" class="mark"/>')
    for order, one in enumerate(series):
        body += _one_line(one, one.get("index", order), x_at, y_at, len(one["points"]) <= 20)
    body += _legend([(one["label"], one.get("index", order), one.get("dashed", False)) for order, one in enumerate(series)])
    return _document(body, PLOT_HEIGHT + AXIS + LEGEND_ROW * len(series) + 4, f"{y_label} against {x_label}")


def _one_line(one, index, x_at, y_at, with_markers):
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
    dash = ' stroke-dasharray="6 4"' if one.get("dashed") else ""
    path = " ".join(f"{x_at(point[0]):.1f},{y_at(point[1]):.1f}" for point in one["points"])
    drawn = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>']
    for point in one["points"]:
        if len(point) == 4 and point[3] > point[2]:
            drawn.append(f'<line x1="{x_at(point[0]):.1f}" x2="{x_at(point[0]):.1f}" y1="{y_at(point[2]):.1f}" y2="{y_at(point[3]):.1f}" '
                         f'stroke="{colour}" stroke-width="1.2"/>')
        if with_markers:
            drawn.append(_marker(marker, x_at(point[0]), y_at(point[1]), colour))
    return drawn


def _legend(rows):
    drawn = []
    for row, (label, index, dashed) in enumerate(rows):
        y = PLOT_HEIGHT + AXIS + LEGEND_ROW * row + 8
        colour = COLOURS[index % len(COLOURS)]
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        drawn.append(f'<line x1="{LEFT}" x2="{LEFT + 26}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.8"{dash}/>')
        drawn.append(_marker(MARKERS[index % len(MARKERS)], LEFT + 13, y, colour))
        drawn.append(_text(LEFT + 33, y + 4, label, "start"))
    return drawn


def bars(rows, unit):
    """Horizontal stacked bars. `rows` is a list of (label, [(part's name, value)...]); every row has the same parts."""
    if not rows:
        return ""
    highest = max(sum(value for _, value in parts) for _, parts in rows) or 1
    span = WIDTH - RIGHT - 70 - 4
    body, y = [], 4
    for label, parts in rows:
        body.append(_text(4, y + 11, label, "start"))
        x = 4.0
        for index, (_, value) in enumerate(parts):
            width = span * value / highest
            body.append(f'<rect x="{x:.1f}" y="{y + 16}" width="{width:.1f}" height="11" fill="{COLOURS[index]}"/>')
            x += width
        body.append(_text(x + 5, y + 26, f"{number(sum(value for _, value in parts))} {unit}", "start"))
        y += 36
    if len(rows[0][1]) > 1:
        x = 4.0
        for index, (name, _) in enumerate(rows[0][1]):
            body.append(f'<rect x="{x}" y="{y + 2}" width="10" height="10" fill="{COLOURS[index]}"/>' + _text(x + 14, y + 11, name, "start"))
            x += 24 + 7 * len(name)
        y += 20
    return _document(body, y + 2, f"bars in {unit}")
