// The kiosk: keys to touch, the scanner's camera, and a screen that forgets.
'use strict';
const page = document.body.dataset;
const ending = document.getElementById('ending');
const seconds = document.getElementById('seconds');
/** Seconds in which the end is announced. */
const ANNOUNCED = 10;
/** Milliseconds after which the site hears again that somebody is here. */
const TOLD_AGAIN = 8000;

// Nothing of the last person comes back with the back button.
addEventListener('pageshow', event => event.persisted && location.replace('/kiosk'));

// Idle: without a touch the screen is announced to end, and ends.
if (page.idle) {
    const idle = Number(page.idle);
    let touched = performance.now(), told = touched, over = false;
    const wipe = () => {
        over = true;
        document.getElementById('main').replaceChildren();
        document.getElementById('wipe').submit();
    };
    const tell = async () => {
        told = performance.now();
        try {
            const reply = await fetch('/kiosk/here', { method: 'POST' });
            if (reply.redirected || !reply.ok) location.replace('/kiosk');
        } catch { /* The next touch tells again. */ }
    };
    const touch = () => {
        touched = performance.now();
        ending.hidden = true;
        if ('guest' in page && touched - told > TOLD_AGAIN) tell();
    };
    for (const kind of ['pointerdown', 'keydown', 'input']) addEventListener(kind, touch, { capture: true, passive: true });
    setInterval(() => {
        if (over) return;
        const left = idle - (performance.now() - touched) / 1000;
        if (left <= 0) return wipe();
        ending.hidden = left > ANNOUNCED;
        seconds.textContent = Math.ceil(left);
    }, 200);
}

// Keys: they type into the field that was touched last.
const fields = [...document.querySelectorAll('[data-digits]')];
if (fields.length) {
    let field;
    const choose = chosen => {
        field = chosen;
        fields.forEach(one => one.classList.toggle('here', one === field));
    };
    fields.forEach(one => one.addEventListener('focus', () => choose(one)));
    choose(fields.find(one => one === document.activeElement) ?? fields.find(one => one.autofocus) ?? fields[0]);
    const type = text => {
        field.value = text.slice(0, field.maxLength);
        field.dispatchEvent(new Event('input', { bubbles: true }));
    };
    document.querySelectorAll('[data-key]').forEach(button => button.addEventListener('click', () => {
        const key = button.dataset.key;
        type(key === 'clear' ? '' : key === 'back' ? field.value.slice(0, -1) : field.value + key);
    }));
    document.querySelectorAll('[data-whole]').forEach(button => button.addEventListener('click', () => type(button.dataset.whole)));
}

// A code by the camera, where there is one and the page came over https; everywhere a scanner types into the field.
const look = document.getElementById('look');
if (look && navigator.mediaDevices) {
    /** Pixels across that are looked at: enough for a telephone at arm's length. */
    const WIDTH = 640;
    const video = document.getElementById('camera');
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const read = () => {
        const width = Math.min(WIDTH, video.videoWidth), height = Math.round(width * video.videoHeight / video.videoWidth);
        if (!width) return null;
        [context.canvas.width, context.canvas.height] = [width, height];
        context.drawImage(video, 0, 0, width, height);
        return readCode(context.getImageData(0, 0, width, height));
    };
    const watch = () => {
        const found = read();
        if (found === null) return setTimeout(watch, 100);
        document.getElementById('code').value = found;
        document.getElementById('scan').requestSubmit();
    };
    const view = document.getElementById('view');
    view.classList.add('ready');
    look.addEventListener('click', async () => {
        [look.hidden, video.hidden] = [true, false];
        view.classList.add('on');
        document.getElementById('code').focus();
        try {
            video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'user' } });
            await video.play();
            watch();
        } catch {
            video.hidden = true;
            document.getElementById('no-camera').hidden = false;
        }
    });
}
