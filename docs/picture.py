"""Draws docs/src/images/heddle.svg, the picture of README and of the book's first page: python3 docs/picture.py"""

from pathlib import Path

STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.title { font-weight: 600; font-size: 16px }
.code { font-family: ui-monospace, monospace; font-size: 13px; fill: #0b57a4 }
.note { font-size: 12.5px; fill: #57606a }
.box { fill: #f6f8fa; stroke: #8c959f }
.node { fill: #ffffff; stroke: #57606a; stroke-width: 1.5 }
.link { stroke: #afb8c1; stroke-width: 1.5 }
.a { stroke: #0b57a4; stroke-width: 3 }
.b { stroke: #bc4c00; stroke-width: 3 }
.arrow { stroke: #57606a; stroke-width: 1.5; fill: none }
.head { fill: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .code { fill: #79b8ff } .note { fill: #9da7b1 }
  .box { fill: #161b22; stroke: #6e7681 } .node { fill: #0d1117; stroke: #9da7b1 } .link { stroke: #484f58 }
  .a { stroke: #79b8ff } .b { stroke: #ffa657 } .arrow { stroke: #9da7b1 } .head { fill: #9da7b1 }
}
"""

SPINES = [(430, 120), (530, 120)]
LEAVES = [(370, 200), (443, 200), (517, 200), (590, 200)]


def line(kind, start, end):
    return f'<line class="{kind}" x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}"/>'


def node(x, y, width, height=20):
    return f'<rect class="node" x="{x - width / 2}" y="{y - height / 2}" width="{width}" height="{height}" rx="4"/>'


def text(kind, x, y, words):
    return f'<text class="{kind}" x="{x}" y="{y}">{words}</text>'


def box(x, y, width, height, lines):
    """A box with lines of text, each a class and its words."""
    parts = [f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>']
    parts += [text(kind, x + width / 2, y + 26 + 21 * at, words) for at, (kind, words) in enumerate(lines)]
    return "".join(parts)


def fabric():
    """Two spines, four leaves, eight hosts; two subflows of one connection, by both spines."""
    hosts = [(x + shift, 258) for x, _ in LEAVES for shift in (-16, 16)]
    parts = [line("link", leaf, spine) for leaf in LEAVES for spine in SPINES]
    parts += [line("link", host, LEAVES[at // 2]) for at, host in enumerate(hosts)]
    for kind, spine, shift in (("a", SPINES[0], -2), ("b", SPINES[1], 2)):
        way = [hosts[0], LEAVES[0], spine, LEAVES[3], hosts[7]]
        way = [(x + shift, y) for x, y in way]
        parts += [line(kind, start, end) for start, end in zip(way, way[1:])]
    parts += [node(x, y, 52) for x, y in SPINES + LEAVES]
    parts += [node(x, y, 20, 16) for x, y in hosts]
    return "".join(parts)


def main():
    boxes = [
        box(20, 96, 250, 158, [
            ("title", "Simulator"), ("code", "heddle run, sweep, study"), ("note", "packet by packet, TCP and MPTCP"),
            ("note", "command line, Python, browser"), ("note", "one seed, one result, to the bit"), ("note", "schemes in Rust, C, Python"),
        ]),
        box(690, 96, 250, 158, [
            ("title", "Real packets"), ("code", "heddle-switch"), ("note", "eBPF switch, tc or XDP"), ("code", "p4/"),
            ("note", "P4_16 programs, on BMv2"), ("code", "heddle lab: kernel hosts"),
        ]),
        box(330, 300, 300, 92, [
            ("title", "Balancer"), ("code", "heddled"), ("note", "layer 4, XDP: all subflows to one backend"),
        ]),
    ]
    arrows = [
        '<path class="arrow" d="M145 90 V40 H815 V90"/>',
        '<path class="head" d="M140 84 L145 96 L150 84 Z M810 84 L815 96 L820 84 Z"/>',
        text("title", 480, 32, "the same scenarios, the same traces"),
        text("note", 480, 58, "the steps of a scheme, compared in Rust, C and P4"),
        '<path class="arrow" d="M480 270 V294"/><path class="head" d="M475 288 L480 300 L485 288 Z"/>',
        text("note", 480, 92, "a fabric: two subflows, two paths"),
        text("note", 690 + 125, 330, "paths for hosts"), text("code", 815, 350, "heddle path, heddle agent"),
    ]
    body = "\n".join([fabric(), *boxes, *arrows])
    label = "A fabric, with the simulator, the switches for real packets and the balancer around it"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 404" role="img" aria-label="{label}">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    (Path(__file__).parent / "src/images/heddle.svg").write_text(svg)


main()
