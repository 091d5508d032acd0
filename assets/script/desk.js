// The little that pages cannot do by themselves. Everything but passkeys works without it.
'use strict';
document.documentElement.classList.add('scripted');

// A form that was sent is not sent again by an impatient second click.
addEventListener('submit', event => {
    const form = event.target;
    if (!('once' in form.dataset)) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
});
addEventListener('pageshow', () => document.querySelectorAll('form[data-sent]').forEach(form => delete form.dataset.sent));

// Signing in by a passkey: the site asks, the authenticator answers, and the answer goes into a form like any other.
const passkey = document.getElementById('passkey');
if (passkey && window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    const say = text => {
        const problem = passkey.querySelector('.problem');
        problem.textContent = text;
        problem.hidden = !text;
    };
    passkey.addEventListener('submit', async event => {
        event.preventDefault();
        say('');
        const username = document.getElementById('username');
        if (!username.value.trim()) {
            say(passkey.dataset.noName);
            return username.focus();
        }
        try {
            const reply = await fetch('/api/auth/login/bio-web-option', {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ username: username.value, purpose: passkey.dataset.purpose, entry_id: passkey.dataset.entry }),
            });
            const asked = await reply.json();
            if (!asked.publicKey) return say(asked.message);
            const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);
            const credential = await navigator.credentials.get({ publicKey });
            for (const name of ['username', 'comment']) {
                if (passkey.elements[name]) passkey.elements[name].value = document.getElementById(name).value;
            }
            passkey.elements.credential.value = JSON.stringify(credential.toJSON());
            passkey.submit();
        } catch {
            say(passkey.dataset.failed);
        }
    });
} else if (passkey) {
    passkey.remove();
}

// A signer's passkey signs what the form says: the site puts the same text together from what is sent.
document.querySelectorAll('button[data-passkey]').forEach(button => {
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return button.remove();
    const form = button.form, problem = form.querySelector('.problem.late');
    const say = text => {
        problem.textContent = text;
        problem.hidden = !text;
    };
    button.addEventListener('click', async () => {
        say('');
        const username = form.elements.username;
        if (!username.value.trim()) {
            say(button.dataset.noName);
            return username.focus();
        }
        if ([...form.elements].some(field => field.type !== 'password' && !field.reportValidity())) return;
        const bound = button.dataset.bound.split(' ');
        const said = [...new FormData(form)].filter(([name]) => bound.includes(name)).map(([name, value]) => `${name}=${value}`);
        try {
            const reply = await fetch('/api/auth/login/bio-web-option', {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ username: username.value, purpose: 'sign_paper', paper: `${button.dataset.paper}?${said.join('&')}` }),
            });
            const asked = await reply.json();
            if (!asked.publicKey) return say(asked.message);
            const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);
            form.elements.credential.value = JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
            form.elements.password.value = '';
            form.submit();
        } catch {
            say(button.dataset.failed);
        }
    });
});

// Members are found while somebody types; the latest question wins, and the address is what was typed.
const search = document.getElementById('search');
if (search) {
    const found = document.getElementById('found');
    let asked, timer;
    const ask = async () => {
        asked?.abort();
        asked = new AbortController();
        const query = new URLSearchParams({ q: search.elements.q.value });
        try {
            const reply = await fetch('/desk/members?part=found&' + query, { signal: asked.signal, redirect: 'manual' });
            // Signed out meanwhile: the whole page says so.
            if (!reply.ok) return search.submit();
            found.innerHTML = await reply.text();
            history.replaceState(null, '', '/desk/members?' + query);
        } catch (error) {
            if (error.name !== 'AbortError') search.submit();
        }
    };
    search.elements.q.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(ask, 120);
    });
}

// Parts of a page that renew themselves, while somebody is there to look: an unattended page lets its session go idle.
const WATCHED_MS = 20 * 60 * 1000;
const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea';
const live = () => [...document.querySelectorAll('[data-live]')];
let touched = Date.now();
['pointerdown', 'keydown', 'scroll'].forEach(kind => addEventListener(kind, () => { touched = Date.now(); }, { passive: true }));
const called = control => control.getAttribute('aria-label') ?? control.textContent;
const renew = (part, fresh) => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    // Nobody's typing is lost.
    if (!fresh || fresh.innerHTML === part.innerHTML || focused?.matches('input, select, textarea')) return;
    const around = focused?.closest('[id]').id;
    part.replaceChildren(...fresh.childNodes);
    if (!('live' in fresh.dataset)) delete part.dataset.live;
    if (!focused) return;
    // The focus stays on what it was on. Where that is gone it never moves on to something that does something else.
    const there = document.getElementById(around) ?? part, controls = [...there.querySelectorAll(CONTROLS)];
    const same = there.matches(CONTROLS) ? there : controls.find(one => called(one) === called(focused));
    (same ?? controls.find(one => one.matches('a')) ?? document.getElementById('main')).focus({ preventScroll: true });
};
if (live().length) {
    setInterval(async () => {
        if (document.hidden || Date.now() - touched > WATCHED_MS || !live().length) return;
        try {
            const reply = await fetch(location.href, { redirect: 'error' });
            if (!reply.ok) return;
            const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
            live().forEach(part => renew(part, page.getElementById(part.id)));
        } catch { /* The next time will do. */ }
    }, Math.min(...live().map(part => part.dataset.live)) * 1000);
}
