"""Pictures of pages, by who sees them: in every size, light, dark and as printed."""

import base64
import json
import os
import re

SIZES = [(1280, 800), (1024, 768), (390, 844)]
LOOKS = ("light", "dark", "print")
# A page longer than this shows only its beginning.
HEIGHT_MAX = 2_600
# Files and streams, which are no pages; and pages that end the session.
NO_PAGES = re.compile(r"members/\{member_id\}/photo$|\.(csv|pdf|jpg|js|svg|png|json|ics)$|/live$|/events$|/receipt$|\{file\}")


def chosen():
    """The sizes and looks that the environment names, by default all."""
    wide = os.environ.get("SIZES", "").split()
    sizes = [size for size in SIZES if not wide or f"{size[0]}x{size[1]}" in wide]
    return sizes, os.environ.get("LOOKS", "").split() or list(LOOKS)


def routes(hall):
    rows = json.loads(hall.command("routes", "--json"))
    return rows if isinstance(rows, list) else next(iter(rows.values()))


def pages(rows, caller, numbers=None):
    """The addresses of a caller's pages; those with a number in them where `numbers` has an example."""
    paths = [row["path"] for row in rows if row["method"] == "GET" and row["caller"] == caller]
    forms = {row["path"] for row in rows if row["method"] == "POST" and row["caller"] != "page"}
    found = []
    for path in paths:
        if NO_PAGES.search(path) or (caller == "page" and path in forms):
            continue
        for place in re.findall(r"\{(\w+)\}", path):
            number = example(path, place, numbers or {})
            path = path.replace(f"{{{place}}}", str(number)) if number is not None else path
        if "{" not in path:
            found.append(path)
    return found


def example(path, place, numbers):
    """Several tables have an `entry_id`: the address says which."""
    return next((number for (part, name), number in numbers.items() if name == place and part in path), None)


def name_of(path):
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "root"


def look(screen, scheme):
    media = {"media": "print" if scheme == "print" else "", "features": [{"name": "prefers-color-scheme", "value": "dark" if scheme == "dark" else "light"}]}
    screen.cdp("Emulation.setEmulatedMedia", **media)


def shoot(screen, file):
    """Of the open page; says where it scrolls sideways."""
    screen.wait("return document.readyState === 'complete'")
    screen.run("document.documentElement.getAnimations({ subtree: true }).forEach(animation => animation.finish())")
    height = screen.run("return Math.max(innerHeight, document.documentElement.scrollHeight)")
    wide = screen.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    clip = {"x": 0, "y": 0, "width": screen.run("return innerWidth"), "height": min(height, HEIGHT_MAX), "scale": 1}
    shot = screen.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    with open(file, "wb") as to:
        to.write(base64.b64decode(shot["data"]))
    if wide > 0:
        print(f"{file}: scrolls sideways by {wide} px", flush=True)


def take_all(screen, folder, wanted, sizes, looks):
    """`wanted`: caller → addresses. Each page is opened once a size, and shown in each look."""
    for width, height in sizes:
        for scheme in looks:
            os.makedirs(f"{folder}/{width}x{height}-{scheme}", exist_ok=True)
        for caller, paths in wanted.items():
            screen.becomes(caller)
            screen.size(width, height)
            for path in paths:
                try:
                    screen.go(path)
                    for scheme in looks:
                        look(screen, scheme)
                        shoot(screen, f"{folder}/{width}x{height}-{scheme}/{caller}--{name_of(path)}.png")
                except AssertionError as problem:
                    print(f"{caller} {path}: {problem}", flush=True)
    look(screen, "light")
