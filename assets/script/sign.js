// The drawn signature: its strokes are submitted as lines in units of the field. Without this script the typed name is the
// signature.
'use strict';
const pad = document.getElementById('pad');
if (pad) {
    const LINE = document.getElementById('pad-line'), FIELD = document.getElementById('strokes');
    const WIDTH = 600, HEIGHT = 200, CHARS_MAX = 12000, STEP_MIN = 3;
    let path = FIELD.value, drawing = false, last = null;
    const show = () => { LINE.setAttribute('d', path); FIELD.value = path; };
    const at = event => {
        const box = pad.getBoundingClientRect();
        const within = (value, max) => Math.round(Math.min(Math.max(value, 0), max));
        return [within((event.clientX - box.left) / box.width * WIDTH, WIDTH), within((event.clientY - box.top) / box.height * HEIGHT, HEIGHT)];
    };
    pad.addEventListener('pointerdown', event => {
        event.preventDefault();
        pad.setPointerCapture(event.pointerId);
        [drawing, last] = [true, at(event)];
        path += `${path ? ' ' : ''}M ${last[0]} ${last[1]}`;
        show();
    });
    pad.addEventListener('pointermove', event => {
        if (!drawing || path.length > CHARS_MAX - 12) return;
        const next = at(event);
        if (Math.hypot(next[0] - last[0], next[1] - last[1]) < STEP_MIN) return;
        last = next;
        path += ` L ${next[0]} ${next[1]}`;
        show();
    });
    for (const name of ['pointerup', 'pointercancel']) pad.addEventListener(name, () => { drawing = false; });
    document.getElementById('pad-clear').addEventListener('click', () => { path = ''; show(); });
    // A tap alone is no signature and would be refused.
    pad.closest('form').addEventListener('submit', () => {
        if ((path.match(/L/g) || []).length < 2) { path = ''; show(); }
    });
    // Questions for flyers who are not ticked need no answer.
    const family = document.querySelectorAll('input[name^="flies_"]');
    const update = tick => tick.closest('fieldset').querySelectorAll('input[type="radio"], input[type="date"]').forEach(one => { one.required = tick.checked; });
    family.forEach(tick => { update(tick); tick.addEventListener('change', () => update(tick)); });
}
