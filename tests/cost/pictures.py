"""The pictures that take the most memory of those that are taken, each of one colour, so that the file is small."""

import zlib


def huffman(kind):
    """A table with one code of one bit, for nothing at all."""
    return b"\xff\xc4\x00\x14" + bytes([kind]) + b"\x01" + b"\x00" * 15 + b"\x00"


def jpeg(marker, side, components, last):
    """Not subsampled; `last` is the last coefficient of the scan: 63 of a baseline picture, 0 of a progressive one's first."""
    quantised = b"\xff\xdb\x00\x43\x00" + b"\x01" * 64
    of_frame = b"".join(bytes([n + 1, 0x11, 0]) for n in range(components))
    frame = bytes([0xFF, marker]) + (8 + len(of_frame)).to_bytes(2) + b"\x08" + side.to_bytes(2) * 2 + bytes([components]) + of_frame
    of_scan = b"".join(bytes([n + 1, 0]) for n in range(components))
    scan = b"\xff\xda" + (6 + len(of_scan)).to_bytes(2) + bytes([components]) + of_scan + bytes([0, last, 0])
    bits = (side // 8) ** 2 * components * (2 if last else 1)
    return b"\xff\xd8" + quantised + frame + huffman(0) + huffman(16) + scan + b"\x00" * (bits // 8 + 1) + b"\xff\xd9"


def png(side, depth, interlaced):
    def chunk(name, data):
        return len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)

    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    raw = 0
    for left, top, across, down in passes if interlaced else [(0, 0, 1, 1)]:
        width, height = -(-(side - left) // across), -(-(side - top) // down)
        raw += height * (1 + width * 4 * depth // 8)
    head = side.to_bytes(4) * 2 + bytes([depth, 6, 0, 0, int(interlaced)])
    body = zlib.compress(bytes(raw), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def webp(side):
    """Lossless, where five codes of one symbol each leave nothing to be said of a pixel."""
    bits, place = (side - 1) | (side - 1) << 14 | 1 << 28, 32
    place += 3  # No transform, no colour cache, one group of codes.
    for _ in range(5):
        bits |= 1 << place  # Simple, of one symbol, which is 0 and written in one bit.
        place += 4
    data = b"\x2f" + bits.to_bytes(place // 8 + 8, "little")
    data += b"\x00" * (len(data) % 2)
    chunk = b"VP8L" + len(data).to_bytes(4, "little") + data
    return b"RIFF" + (4 + len(chunk)).to_bytes(4, "little") + b"WEBP" + chunk


ALL = [
    ("a baseline JPEG, grey, 4096 × 4096", "image/jpeg", lambda: jpeg(0xC0, 4096, 1, 63)),
    ("a baseline JPEG, colour, 4096 × 4096", "image/jpeg", lambda: jpeg(0xC0, 4096, 3, 63)),
    ("a progressive JPEG, colour, 2720 × 2720", "image/jpeg", lambda: jpeg(0xC2, 2720, 3, 0)),
    ("a progressive JPEG, colour, 4096 × 4096", "image/jpeg", lambda: jpeg(0xC2, 4096, 3, 0)),
    ("a PNG, 8 bits, transparent, 3544 × 3544", "image/png", lambda: png(3544, 8, False)),
    ("a PNG, 16 bits, interlaced, 2504 × 2504", "image/png", lambda: png(2504, 16, True)),
    ("a WebP, lossless, transparent, 3544 × 3544", "image/webp", lambda: webp(3544)),
]
