// A QR code reader (ISO/IEC 18004) for versions 1 to 4, the sizes that members' apps show; browsers on Linux have none. It
// estimates the position of the fourth corner, tries positions around it, and accepts what Reed-Solomon correction finds
// valid.
'use strict';
const readCode = (() => {
    const VERSION_MAX = 4;
    /** Total number of codewords, by version. */
    const CODEWORDS = [0, 26, 44, 70, 100];
    /** Error correction codewords in each block, and number of blocks, by version and level. Levels in the order of the format
     *  information: M L H Q. */
    const BLOCKS = [
        null,
        [[10, 1], [7, 1], [17, 1], [13, 1]],
        [[16, 1], [10, 1], [28, 1], [22, 1]],
        [[26, 1], [15, 1], [22, 2], [18, 2]],
        [[18, 2], [20, 1], [16, 4], [26, 2]],
    ];
    const MASKS = [
        (x, y) => (x + y) % 2, (x, y) => y % 2, x => x % 3, (x, y) => (x + y) % 3,
        (x, y) => ((y >> 1) + Math.floor(x / 3)) % 2, (x, y) => x * y % 2 + x * y % 3,
        (x, y) => (x * y % 2 + x * y % 3) % 2, (x, y) => ((x + y) % 2 + x * y % 3) % 2,
    ];
    /** Finder patterns that are tried, and wrong bits that the format information may have. */
    const CORNERS_MAX = 8, FORMAT_ERRORS_MAX = 3;
    /** Offsets of the fourth corner from its position without perspective, in modules, the nearest first. */
    const AROUND = [];
    for (let x = -4; x <= 4; x += 0.5) for (let y = -4; y <= 4; y += 0.5) AROUND.push({ x, y });
    AROUND.sort((a, b) => Math.hypot(a.x, a.y) - Math.hypot(b.x, b.y));

    // Arithmetic in GF(256).
    const EXP = new Uint8Array(510), LOG = new Uint8Array(256);
    for (let i = 0, value = 1; i < 255; i++, value = value << 1 ^ (value > 127 ? 0x11d : 0)) {
        EXP[i] = EXP[i + 255] = value;
        LOG[value] = i;
    }
    const times = (a, b) => a && b ? EXP[LOG[a] + LOG[b]] : 0;
    const over = (a, b) => a ? EXP[LOG[a] + 255 - LOG[b]] : 0;
    /** The value of a polynomial, its constant first. */
    const at = (polynomial, x) => polynomial.reduceRight((sum, one) => times(sum, x) ^ one, 0);

    const FORMATS = Array.from({ length: 32 }, (_, data) => {
        let rest = data << 10;
        for (let bit = 14; bit >= 10; bit--) if (rest >> bit & 1) rest ^= 0x537 << bit - 10;
        return (data << 10 | rest) ^ 0x5412;
    });

    /** Binarizes a picture with an adaptive threshold: the mean of the pixels within `around`. */
    const darken = (grey, width, height, around) => {
        const sums = new Float64Array((width + 1) * (height + 1)), dark = new Uint8Array(width * height);
        for (let y = 0; y < height; y++) {
            for (let x = 0, row = 0; x < width; x++) {
                row += grey[y * width + x];
                sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row;
            }
        }
        for (let y = 0; y < height; y++) {
            const top = Math.max(0, y - around), bottom = Math.min(height, y + around + 1);
            for (let x = 0; x < width; x++) {
                const left = Math.max(0, x - around), right = Math.min(width, x + around + 1);
                const sum = sums[bottom * (width + 1) + right] - sums[top * (width + 1) + right]
                    - sums[bottom * (width + 1) + left] + sums[top * (width + 1) + left];
                dark[y * width + x] = grey[y * width + x] * (right - left) * (bottom - top) < sum * 0.94 ? 1 : 0;
            }
        }
        return dark;
    };

    /** The module size of five runs of dark and light pixels in the ratio 1:1:3:1:1; 0 where the ratio differs. */
    const proportion = runs => {
        const module = (runs[0] + runs[1] + runs[2] + runs[3] + runs[4]) / 7;
        const fits = runs.every((run, place) => Math.abs(run - (place === 2 ? 3 : 1) * module) < (place === 2 ? 1.5 : 0.75) * module);
        return fits ? module : 0;
    };

    /** The centre and the module size of a finder pattern along one direction; 0 where there is none. */
    const cross = (dark, from, step, before, after) => {
        const run = (place, way, colour, most) => {
            let length = 0;
            while (length < most && dark[from + (place + way * length) * step] === colour) length++;
            return length;
        };
        let up = 0, down = 0;
        const runs = [];
        const middleUp = run(0, -1, 1, before + 1);
        up += middleUp;
        runs[1] = run(-up, -1, 0, before - up + 1); up += runs[1];
        runs[0] = run(-up, -1, 1, before - up + 1);
        const middleDown = run(1, 1, 1, after);
        down += middleDown;
        runs[3] = run(down + 1, 1, 0, after - down); down += runs[3];
        runs[4] = run(down + 1, 1, 1, after - down);
        runs[2] = middleUp + middleDown;
        const module = proportion(runs);
        return module && { offset: (middleDown - middleUp + 1) / 2, module };
    };

    /** The centres of finder patterns, those seen in most rows first. */
    const corners = (dark, width, height) => {
        const found = [];
        for (let y = 0; y < height; y += 2) {
            const runs = [0, 0, 0, 0, 0];
            for (let x = 0, colour = 0; x <= width; x++) {
                if (x < width && dark[y * width + x] === colour) { runs[4]++; continue; }
                if (colour && proportion(runs)) {
                    const middle = Math.round(x - runs[4] - runs[3] - runs[2] / 2);
                    const down = cross(dark, y * width + middle, width, y, height - 1 - y);
                    const row = down && Math.round(y + down.offset);
                    const along = down && cross(dark, row * width + middle, 1, middle, width - 1 - middle);
                    if (along) note(found, middle + along.offset, y + down.offset, (along.module + down.module) / 2);
                }
                runs.shift();
                runs.push(1);
                colour ^= 1;
            }
        }
        return found.sort((a, b) => b.seen - a.seen).slice(0, CORNERS_MAX);
    };
    const note = (found, x, y, module) => {
        const known = found.find(one => Math.hypot(one.x - x, one.y - y) < 2 * one.module);
        if (!known) return found.push({ x, y, module, seen: 1 });
        known.seen++;
        for (const [name, value] of [['x', x], ['y', y], ['module', module]]) known[name] += (value - known[name]) / known.seen;
    };

    /** The perspective mapping from modules of a code of this size to pixels, from the positions of its four corners. */
    const perspective = (size, corner, right, across, down) => {
        const dx = corner.x - right.x + across.x - down.x, dy = corner.y - right.y + across.y - down.y;
        const ax = right.x - across.x, bx = down.x - across.x, ay = right.y - across.y, by = down.y - across.y;
        const whole = ax * by - bx * ay, g = (dx * by - bx * dy) / whole, h = (ax * dy - dx * ay) / whole;
        const a = right.x - corner.x + g * right.x, b = down.x - corner.x + h * down.x;
        const d = right.y - corner.y + g * right.y, e = down.y - corner.y + h * down.y;
        return (column, row) => {
            const u = (column - 3) / (size - 7), v = (row - 3) / (size - 7), w = g * u + h * v + 1;
            return { x: (a * u + b * v + corner.x) / w, y: (d * u + e * v + corner.y) / w };
        };
    };

    /** Level and mask, from either copy of the format information; `null` where both are too damaged. */
    const format = (bit, size) => {
        const places = [[], []];
        for (let i = 0; i < 9; i++) if (i !== 6) places[0].push([i, 8]);
        for (let i = 7; i >= 0; i--) if (i !== 6) places[0].push([8, i]);
        for (let i = 1; i <= 7; i++) places[1].push([8, size - i]);
        for (let i = 8; i >= 1; i--) places[1].push([size - i, 8]);
        let best = null, least = FORMAT_ERRORS_MAX + 1;
        for (const copy of places) {
            const read = copy.reduce((sum, [x, y]) => sum << 1 | bit(x, y), 0);
            FORMATS.forEach((known, data) => {
                let wrong = 0;
                for (let rest = known ^ read; rest; rest &= rest - 1) wrong++;
                if (wrong < least) [best, least] = [data, wrong];
            });
        }
        return best;
    };

    /** Whether a module belongs to a function pattern and not to the data. */
    const isPattern = (x, y, size, version) => x < 9 && y < 9 || x > size - 9 && y < 9 || x < 9 && y > size - 9 || x === 6 || y === 6
        || version > 1 && Math.abs(x - size + 7) < 3 && Math.abs(y - size + 7) < 3;

    /** The codewords, two columns at a time from the right, up and down. */
    const codewords = (bit, size, version, mask) => {
        const words = [];
        let word = 0, bits = 0, up = true;
        for (let right = size - 1; right > 0; right -= 2, up = !up) {
            if (right === 6) right--;
            for (let i = 0; i < size; i++) {
                const y = up ? size - 1 - i : i;
                for (const x of [right, right - 1]) {
                    if (isPattern(x, y, size, version)) continue;
                    word = word << 1 | bit(x, y) ^ (MASKS[mask](x, y) ? 0 : 1);
                    if (++bits % 8 === 0) { words.push(word); word = 0; }
                }
            }
        }
        return words.slice(0, CODEWORDS[version]);
    };

    /** The data of a block after error correction; `null` where it cannot be corrected. */
    const correct = (block, checks) => {
        const received = block.slice().reverse();
        const syndromes = Array.from({ length: checks }, (_, i) => at(received, EXP[i]));
        if (syndromes.some(one => one)) {
            // Berlekamp-Massey: the positions of the errors.
            let locator = [1], before = [1], errors = 0, shift = 1, last = 1;
            for (let i = 0; i < checks; i++) {
                let off = syndromes[i];
                for (let j = 1; j <= errors; j++) off ^= times(locator[j] ?? 0, syndromes[i - j]);
                if (!off) { shift++; continue; }
                const kept = locator.slice(), scale = over(off, last);
                before.forEach((one, j) => { locator[j + shift] = (locator[j + shift] ?? 0) ^ times(scale, one); });
                for (let j = 0; j < locator.length; j++) locator[j] ??= 0;
                if (2 * errors <= i) [errors, before, last, shift] = [i + 1 - errors, kept, off, 1];
                else shift++;
            }
            const wrong = received.map((_, i) => i).filter(i => !at(locator, EXP[(255 - i) % 255]));
            if (wrong.length !== errors || 2 * errors > checks) return null;
            // Forney: the values of the errors.
            const evaluator = syndromes.map((_, i) => {
                let sum = 0;
                for (let j = 0; j <= i; j++) sum ^= times(locator[j] ?? 0, syndromes[i - j]);
                return sum;
            });
            const slope = locator.map((one, i) => i % 2 ? one : 0).slice(1);
            for (const i of wrong) {
                const x = EXP[(255 - i) % 255];
                received[i] ^= times(EXP[i], over(at(evaluator, x), at(slope, x)));
            }
            if (syndromes.some((_, i) => at(received, EXP[i]))) return null;
        }
        return received.reverse().slice(0, block.length - checks);
    };

    /** Decodes the data: numeric, alphanumeric and byte mode. */
    const text = bytes => {
        let place = 0;
        const take = bits => {
            let value = 0;
            for (; bits > 0; bits--, place++) value = value << 1 | bytes[place >> 3] >> 7 - place % 8 & 1;
            return value;
        };
        const left = () => 8 * bytes.length - place, ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
        let said = '';
        while (left() >= 4) {
            const mode = take(4);
            if (mode === 0) break;
            if (mode === 1) {
                for (let count = take(10); count > 0; count -= 3) {
                    const digits = Math.min(count, 3);
                    said += String(take([0, 4, 7, 10][digits])).padStart(digits, '0');
                }
            } else if (mode === 2) {
                for (let count = take(9); count > 0; count -= 2) {
                    const pair = count > 1 ? take(11) : take(6);
                    said += (count > 1 ? ALPHABET[Math.floor(pair / 45)] : '') + ALPHABET[pair % 45];
                }
            } else if (mode === 4) {
                const letters = Uint8Array.from({ length: take(8) }, () => take(8));
                said += new TextDecoder().decode(letters);
            } else {
                return null;
            }
            if (left() < 0) return null;
        }
        return said || null;
    };

    /** Whether the timing patterns alternate. */
    const isTimed = (bit, size) => {
        let wrong = 0;
        for (let i = 8; i < size - 8; i++) wrong += Number(bit(i, 6) === i % 2) + Number(bit(6, i) === i % 2);
        return wrong <= (size - 16) / 3;
    };

    /** Decodes a code of this version; `null` where it cannot be read. */
    const decode = (bit, version) => {
        const size = 17 + 4 * version, found = isTimed(bit, size) ? format(bit, size) : null;
        if (found === null) return null;
        const words = codewords(bit, size, version, found & 7), [checks, count] = BLOCKS[version][found >> 3];
        const blocks = Array.from({ length: count }, (_, b) => correct(words.filter((_, i) => i % count === b), checks));
        return blocks.every(block => block) ? text(blocks.flat()) : null;
    };

    const tryCorners = (dark, width, height, corner, right, down) => {
        const bits = place => (x, y) => {
            const { x: px, y: py } = place(x, y), column = Math.round(px), row = Math.round(py);
            return column >= 0 && row >= 0 && column < width && row < height ? dark[row * width + column] : 0;
        };
        for (let version = 1; version <= VERSION_MAX; version++) {
            const size = 17 + 4 * version, part = 1 / (size - 7);
            const along = { x: (right.x - corner.x) * part, y: (right.y - corner.y) * part };
            const aside = { x: (down.x - corner.x) * part, y: (down.y - corner.y) * part };
            // The module size must be near that of the finder pattern.
            const length = Math.hypot(along.x, along.y) / corner.module;
            if (length < 0.5 || length > 1.6) continue;
            for (const { x, y } of AROUND) {
                const across = {
                    x: right.x + down.x - corner.x + x * along.x + y * aside.x,
                    y: right.y + down.y - corner.y + x * along.y + y * aside.y,
                };
                const said = decode(bits(perspective(size, corner, right, across, down)), version);
                if (said !== null) return said;
            }
        }
        return null;
    };

    /** The text of the QR code in a picture; `null` where none is found. */
    return ({ data, width, height }) => {
        const grey = new Uint8Array(width * height);
        for (let i = 0; i < grey.length; i++) grey[i] = (data[4 * i] * 77 + data[4 * i + 1] * 150 + data[4 * i + 2] * 29) >> 8;
        for (const part of [4, 10]) {
            const dark = darken(grey, width, height, Math.round(Math.min(width, height) / part));
            const seen = corners(dark, width, height);
            for (const corner of seen) {
                for (const right of seen) {
                    for (const down of seen) {
                        if (corner === right || corner === down || right === down) continue;
                        const [a, b, c] = [[corner, right], [corner, down], [right, down]].map(([p, q]) => Math.hypot(p.x - q.x, p.y - q.y));
                        const sizes = [corner.module, right.module, down.module];
                        if (c < a || c < b || a > 1.7 * b || b > 1.7 * a || Math.max(...sizes) > 2 * Math.min(...sizes)) continue;
                        const said = tryCorners(dark, width, height, corner, right, down);
                        if (said !== null) return said;
                    }
                }
            }
        }
        return null;
    };
})();
