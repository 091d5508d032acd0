// The kiosk: on-screen keys, QR scanner, card reader, sign-out of idle guests, and check-ins while offline.
'use strict';
const page = document.body.dataset;
const ending = document.getElementById('ending');
const seconds = document.getElementById('seconds');
/** Seconds before the sign-out in which a countdown is shown. */
const COUNTDOWN = 10;
/** Least milliseconds between two messages to the server that the guest is active. */
const ACTIVE_INTERVAL = 8000;

// The back button does not bring back pages of the last guest, and shows nothing of them until the start page is loaded.
addEventListener('pagehide', () => { document.body.hidden = true; });
addEventListener('pageshow', event => event.persisted && location.replace('/kiosk'));
// The history keeps no sent form: a number and a PIN, or a sign-up, would be sent again by Back and loading again.
history.replaceState(null, '', location.href);

// Signs an idle guest out, after a countdown.
if (page.idle) {
    const idle = Number(page.idle);
    let touched = performance.now(), reported = touched, over = false;
    const wipe = () => {
        over = true;
        document.getElementById('main').replaceChildren();
        window.leaveKiosk(document.getElementById('wipe'));
    };
    const report = async () => {
        reported = performance.now();
        try {
            const reply = await fetch('/kiosk/here', { method: 'POST' });
            if (reply.redirected || !reply.ok) location.replace('/kiosk');
        } catch { /* The next touch reports again. */ }
    };
    const touch = () => {
        touched = performance.now();
        ending.hidden = true;
        if ('guest' in page && touched - reported > ACTIVE_INTERVAL) report();
    };
    for (const kind of ['pointerdown', 'keydown', 'input']) addEventListener(kind, touch, { capture: true, passive: true });
    setInterval(() => {
        if (over) return;
        const left = idle - (performance.now() - touched) / 1000;
        if (left <= 0) return wipe();
        ending.hidden = left > COUNTDOWN;
        seconds.textContent = Math.ceil(left);
    }, 200);
}

// Messages about fields are in the guest's language; the browser's own are in the language of the machine.
{
    const clear = ({ target }) => [...(target.form ?? target).elements ?? []].forEach(one => one.setCustomValidity(''));
    for (const kind of ['input', 'change']) addEventListener(kind, clear, { capture: true });
    addEventListener('invalid', ({ target }) => target.setCustomValidity(target.validity.valueMissing ? page.needed : page.wrong), { capture: true });
}

// On-screen keys type into the field that was focused last.
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

// Reads a QR code with the camera, where browsers allow it (https). A scanner types into the field everywhere.
const look = document.getElementById('look');
if (look && navigator.mediaDevices) {
    /** Width in pixels of the frames that are searched: enough for a phone at arm's length. */
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

// A reader of cards or codes types like a keyboard. It ends with Enter, with Tab, or with nothing.
{
    /** Milliseconds without a key after which a reading is complete, and the fewest keys of a card and of a code. */
    const SILENCE = 400, KEYS_MIN = 4, CODE_MIN = 20;
    /** Where nothing else can be typed, every burst of keys is a card. */
    const card = document.getElementById('card');
    /** The field that a scanner of codes types into. */
    const code = document.querySelector('#scan [name=code]');
    let read = '', timer;
    const end = () => {
        clearTimeout(timer);
        const reading = read;
        read = '';
        if (card && reading.length >= KEYS_MIN) {
            card.elements.card.value = reading;
            card.submit();
            return true;
        }
        if (code && code.value.length >= CODE_MIN) code.form.requestSubmit();
        return code && code.value.length >= CODE_MIN;
    };
    if (card || code) addEventListener('keydown', event => {
        // Some keyboards make the marks of a frame with AltGr, which counts as Ctrl and Alt.
        if (event.repeat) return;
        clearTimeout(timer);
        if (event.key === 'Enter' || event.key === 'Tab') {
            if (!end()) return;
            event.preventDefault();
            event.stopPropagation();
        } else if (event.key.length === 1) {
            read += event.key;
            timer = setTimeout(end, SILENCE);
        }
    }, { capture: true });
}

// Offline: a message is shown, actions that need the server wait, and check-ins are queued until the server takes them.
{
    const QUEUE = 'kept-check-ins';
    /** Milliseconds that a request may take, and between two probes whether the server answers. */
    const TIMEOUT = 4000, PROBE_INTERVAL = 3000;
    const main = document.getElementById('main');
    let offline = false, sending;
    /** Whether the server refused a check-in that a guest was told is noted. */
    let unkept = false;
    /** The queue while the browser stores nothing: it blocks storage, or its storage is full. */
    let unstored;
    const stored = () => {
        try {
            return JSON.parse(localStorage.getItem(QUEUE) ?? '[]');
        } catch {
            return [];
        }
    };
    const queue = () => unstored ?? stored();
    const setQueue = list => {
        try {
            localStorage.setItem(QUEUE, JSON.stringify(list));
            unstored = undefined;
        } catch {
            unstored = list;
        }
    };
    const answers = async () => {
        try {
            return (await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT) })).ok;
        } catch {
            return false;
        }
    };
    /** Sends a check-in: `true` accepted, `false` refused, `undefined` unknown, so that it stays queued. */
    const send = async one => {
        try {
            const reply = await fetch('/kiosk/kept', {
                method: 'POST', redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT),
                headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': one.key },
                body: new URLSearchParams({ ticket: one.ticket, at: one.at, ...(one.noted && { noted: 'yes' }) }).toString(),
            });
            if (reply.type === 'opaqueredirect' || reply.status === 429 || reply.status >= 500) return undefined;
            setQueue(queue().filter(other => other.key !== one.key));
            return reply.ok;
        } catch {
            return undefined;
        }
    };
    /** Sends the queue in order; whether it is empty afterwards. */
    const drain = () => sending ??= (async () => {
        try {
            for (let one; (one = queue()[0]);) {
                const done = await send(one);
                if (done === undefined) return false;
                unkept ||= !done;
            }
            return true;
        } finally {
            sending = undefined;
        }
    })();
    const say = text => {
        let said = document.getElementById('away');
        if (!text) return said?.remove();
        if (!said) {
            said = Object.assign(document.createElement('p'), { id: 'away', className: 'problem' });
            said.setAttribute('role', 'alert');
            main.prepend(said);
        }
        said.textContent = text;
    };
    const watch = async () => {
        if (await answers() && await drain()) {
            offline = false;
            say(unkept && page.unkept);
            // The guest whose page was wiped is signed out before the start page is loaded.
            if (main.dataset.wiped) document.getElementById('wipe').submit();
            return;
        }
        setTimeout(watch, PROBE_INTERVAL);
    };
    const goOffline = () => {
        say(page.away);
        if (!offline) watch();
        offline = true;
    };
    /** Removes all personal data from the screen while the server does not answer. */
    const wipeOffline = () => {
        const title = Object.assign(document.createElement('h1'), { textContent: page.awayTitle });
        const desk = Object.assign(document.createElement('p'), { textContent: page.awayDesk });
        main.replaceChildren(title, desk);
        main.dataset.wiped = 'yes';
        document.querySelectorAll('.guest, .foot').forEach(one => one.remove());
        ending.hidden = true;
        if (!offline) watch();
        offline = true;
    };
    window.leaveKiosk = async form => await answers() && await drain() ? form.submit() : wipeOffline();

    const idempotencyKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');
    const checkIn = async form => {
        const one = { key: idempotencyKey(), ticket: form.dataset.ticket, at: Math.floor(Date.now() / 1000), noted: offline };
        // Queued before it is sent, so that it cannot be lost.
        setQueue([...queue(), one]);
        const done = await send(one);
        if (done) return location.assign('/kiosk/home?done=arrived');
        // The reply of the server to the form says why.
        if (done === false) return form.submit();
        // From now on the guest relies on it.
        setQueue(queue().map(other => other.key === one.key ? { ...other, noted: true } : other));
        const said = Object.assign(document.createElement('p'), { className: 'note', textContent: page.kept });
        said.setAttribute('role', 'status');
        form.replaceWith(said);
        goOffline();
    };
    addEventListener('submit', async event => {
        const form = event.target, submitter = event.submitter ?? undefined;
        if (form.dataset.passed) return void delete form.dataset.passed;
        event.preventDefault();
        event.stopImmediatePropagation();
        if (form.dataset.asking) return;
        form.dataset.asking = 'yes';
        if (form.dataset.ticket) await checkIn(form);
        else if (form.action.endsWith('/kiosk/leave')) await window.leaveKiosk(form);
        else if (await answers()) {
            form.dataset.passed = 'yes';
            form.requestSubmit(submitter);
        } else goOffline();
        delete form.dataset.asking;
    }, { capture: true });
    addEventListener('click', async event => {
        const link = event.target.closest?.('a[href]');
        if (!link || event.defaultPrevented) return;
        event.preventDefault();
        if (await answers()) location.assign(link.href);
        else goOffline();
    });
    if (main.dataset.wiped) {
        offline = true;
        watch();
    } else if (queue().length) drain().then(all => all || goOffline());
}

// The service worker shows the offline page where a kiosk is loaded without a server; over https and on localhost only.
if (isSecureContext) navigator.serviceWorker?.register('/kiosk/worker.js', { scope: '/kiosk' }).catch(() => {});
