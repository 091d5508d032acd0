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
        window.leaveKiosk(document.getElementById('wipe'));
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

// A card or a wristband before a reader that types: faster than anybody, and Enter behind it.
const card = document.getElementById('card');
if (card) {
    /** Milliseconds between two keys of a reader, and its least keys. */
    const FAST = 60, KEYS_MIN = 4;
    let read = '', last = 0;
    addEventListener('keydown', event => {
        const now = event.timeStamp;
        if (now - last > FAST) read = '';
        last = now;
        if (event.key.length === 1) read += event.key;
        if (event.key !== 'Enter' || read.length < KEYS_MIN) return;
        event.preventDefault();
        event.stopPropagation();
        card.elements.card.value = read;
        card.submit();
    }, { capture: true });
}

// The site away: it is said, nothing is begun that needs the site, and check-ins are kept until the site has them.
{
    const KEPT = 'kept-check-ins';
    /** Milliseconds that the site may take to answer, and between two looks whether it does again. */
    const ANSWER = 4000, AGAIN = 3000;
    const main = document.getElementById('main');
    let gone = false, sending;
    const kept = () => JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    const keep = list => localStorage.setItem(KEPT, JSON.stringify(list));
    const answers = async () => {
        try {
            return (await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER) })).ok;
        } catch {
            return false;
        }
    };
    /** What became of one: `true` the site has it, `false` it refuses it, `undefined` nobody knows yet. */
    const send = async one => {
        try {
            const reply = await fetch('/kiosk/kept', {
                method: 'POST', redirect: 'manual', signal: AbortSignal.timeout(ANSWER),
                headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': one.key },
                body: new URLSearchParams({ ticket: one.ticket, at: one.at }).toString(),
            });
            if (reply.type === 'opaqueredirect' || reply.status === 429 || reply.status >= 500) return undefined;
            keep(kept().filter(other => other.key !== one.key));
            return reply.ok;
        } catch {
            return undefined;
        }
    };
    /** Sends what was kept, one after the other; whether nothing is left. */
    const drain = () => sending ??= (async () => {
        try {
            for (let one; (one = kept()[0]);) if (await send(one) === undefined) return false;
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
            gone = false;
            say('');
            if (main.dataset.wiped) location.replace('/kiosk');
            return;
        }
        setTimeout(watch, AGAIN);
    };
    const away = () => {
        say(page.away);
        if (!gone) watch();
        gone = true;
    };
    /** Nothing of a person stays on a screen whose site does not answer. */
    const wipeAway = () => {
        const title = Object.assign(document.createElement('h1'), { textContent: page.awayTitle });
        const desk = Object.assign(document.createElement('p'), { textContent: page.awayDesk });
        main.replaceChildren(title, desk);
        main.dataset.wiped = 'yes';
        document.querySelectorAll('.guest, .foot').forEach(one => one.remove());
        ending.hidden = true;
        if (!gone) watch();
        gone = true;
    };
    window.leaveKiosk = async form => await answers() && await drain() ? form.submit() : wipeAway();

    const number = () => [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');
    const checkIn = async form => {
        const one = { key: number(), ticket: form.dataset.ticket, at: Math.floor(Date.now() / 1000) };
        // Kept first: whatever happens while it is sent, it is not lost.
        keep([...kept(), one]);
        const done = await send(one);
        if (done) return location.assign('/kiosk/home?done=arrived');
        // The page of the refusal says why.
        if (done === false) return form.submit();
        const said = Object.assign(document.createElement('p'), { className: 'note', textContent: page.kept });
        said.setAttribute('role', 'status');
        form.replaceWith(said);
        away();
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
        } else away();
        delete form.dataset.asking;
    }, { capture: true });
    addEventListener('click', async event => {
        const link = event.target.closest?.('a[href]');
        if (!link || event.defaultPrevented) return;
        event.preventDefault();
        if (await answers()) location.assign(link.href);
        else away();
    });
    if (main.dataset.wiped) {
        gone = true;
        watch();
    } else if (kept().length) drain().then(all => all || away());
}

// Loaded while the site is away, a kiosk waits on a page of ours; browsers allow that over https and on the machine itself.
if (isSecureContext) navigator.serviceWorker?.register('/kiosk/worker.js', { scope: '/kiosk' }).catch(() => {});
