# SPDX-License-Identifier: MIT
"""Pictures of engines: peers, objects of the kernel, and the threads that wait for them. All are laid out
alike: three columns, and arrows with the number of the step."""

import html
import tomllib

_WIDTH, _BOX, _GAP, _TOP = 860, 58, 46, 44
_COLUMNS = {"peers": (14, 104), "kernel": (236, 190), "process": (606, 240)}
_STYLE = ("text{font-family:sans-serif;font-size:13px;fill:#222}.h{font-weight:bold;fill:#555}"
          ".w{fill:#a33;font-size:12px}.n{font-size:12px;paint-order:stroke;stroke:#fff;stroke-width:4px}"
          "rect{fill:#fff;stroke:#444}.k{fill:#eef3fa}.p{fill:#fdf6e3}"
          "path{stroke:#444;fill:none;marker-end:url(#tip)}")


def all_pictures(file):
    with open(file, "rb") as text:
        for name, engine in tomllib.load(text).items():
            yield name, picture(name, engine)


def picture(name, engine):
    """`kernel` and `process` are lists of boxes: "id: title" and "id: title | waits in ...". `steps` are
    arrows: "from > to: words"."""
    boxes = {"peers": ("peers", 0, 1, "peers", "")}
    for column in ("kernel", "process"):
        for row, text in enumerate(engine[column]):
            key, _, title = text.partition(": ")
            title, _, wait = title.partition(" | ")
            boxes[key] = (column, row, len(engine[column]), title, wait)
    rows = max(len(engine["kernel"]), len(engine["process"]))
    height = _TOP + rows * (_BOX + _GAP)
    arrows = [_arrow(text) for text in engine["steps"]]
    parts = [_head(name, height), *(_heading(column) for column in _COLUMNS)]
    parts += [line for key in boxes for line in _box(boxes[key], rows)]
    parts += [line for n, arrow in enumerate(arrows, 1) for line in _drawn(arrow, n, arrows, boxes, rows)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _arrow(text):
    ends, _, words = text.partition(": ")
    begin, end = ends.split(" > ")
    return begin, end, words


def _head(name, height):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">\n'
            f"<title>Who waits where in the engine {name}</title>\n<style>{_STYLE}</style>\n"
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z" style="fill:#444;stroke:none;marker-end:none"/>'
            f'</marker></defs>\n<rect width="{_WIDTH}" height="{height}" style="stroke:none"/>')


def _heading(column):
    x, width = _COLUMNS[column]
    words = {"peers": "outside", "kernel": "kernel", "process": "process"}[column]
    return f'<text class="h" x="{x + width / 2:g}" y="22" text-anchor="middle">{words}</text>'


def _top(box, rows):
    _, row, count, _, _ = box
    return _TOP + (rows - count) * (_BOX + _GAP) / 2 + row * (_BOX + _GAP)


def _box(box, rows):
    column, _, _, title, wait = box
    (x, width), y = _COLUMNS[column], _top(box, rows)
    yield f'<rect class="{column[0]}" x="{x}" y="{y:g}" width="{width}" height="{_BOX}" rx="5"/>'
    middle, base, words = x + width / 2, y + (24 if wait else 34), html.escape(title)
    yield f'<text x="{middle:g}" y="{base:g}" text-anchor="middle">{words}</text>'
    if wait:
        yield f'<text class="w" x="{middle:g}" y="{y + 44:g}" text-anchor="middle">{html.escape(wait)}</text>'


def _drawn(arrow, number, arrows, boxes, rows):
    begin, end, words = arrow
    (x1, y1), (x2, y2) = (_end(key, arrow, arrows, boxes, rows) for key in (begin, end))
    yield f'<path d="M{x1:g} {y1:g} L{x2:g} {y2:g}"/>'
    x, y, anchor = (x1 + x2) / 2, (y1 + y2) / 2 - 4, "middle"
    if boxes[begin][0] == boxes[end][0]:
        # Of two arrows between the same boxes, the first has its words at its left.
        left = (end, begin) in [other[:2] for other in arrows[number:]]
        x, y, anchor = x + (-7 if left else 7), y + 9, "end" if left else "start"
    yield f'<text class="n" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{number} {html.escape(words)}</text>'


def _end(key, arrow, arrows, boxes, rows):
    """The point at a box where an arrow begins or ends: the arrows of one side share it in their order."""
    side = _side(key, arrow, boxes)
    alike = [other for other in arrows if key in other[:2] and _side(key, other, boxes) == side]
    alike.sort(key=lambda other: boxes[other[1] if key == other[0] else other[0]][1])  # so that fewer cross
    share = (alike.index(arrow) + 1) / (len(alike) + 1)
    (x, width), y = _COLUMNS[boxes[key][0]], _top(boxes[key], rows)
    if side in ("left", "right"):
        return x + (width if side == "right" else 0), y + _BOX * share
    return x + width * (share if len(alike) > 1 else 0.3), y + (_BOX if side == "below" else 0)


def _side(key, arrow, boxes):
    other = boxes[arrow[1] if key == arrow[0] else arrow[0]]
    own = boxes[key]
    order = list(_COLUMNS)
    if own[0] == other[0]:
        return "below" if other[1] > own[1] else "above"
    return "right" if order.index(other[0]) > order.index(own[0]) else "left"
