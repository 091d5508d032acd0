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

// What is shown once goes to paper or to the clipboard.
document.querySelectorAll('[data-print]').forEach(button => button.addEventListener('click', () => print()));
document.querySelectorAll('[data-copy]').forEach(button => button.addEventListener('click', async () => {
    const rows = [...document.getElementById(button.dataset.copy).children].map(row => row.textContent);
    await navigator.clipboard.writeText(rows.join('\n'));
    button.textContent = button.dataset.copied;
}));

// A colleague goes on: the passkey that is asked for is theirs (`username` says whose), and the sixth digit sends the PIN.
const takeOver = (form, username, byPasskey) => {
    const pin = form.elements.pin;
    form.addEventListener('change', ({ target }) => {
        if (target.name !== 'member') return;
        if ('passkey' in target.dataset) byPasskey();
        if (username) username.value = target.dataset.name;
        pin.focus();
    });
    pin.addEventListener('input', () => { if (/^[0-9]{6}$/.test(pin.value)) form.requestSubmit(); });
};
const change = document.getElementById('change');
if (change) takeOver(change, document.getElementById('username'), () => {});

// The change of clerk stands over the page where it is asked for: nobody waits for another page.
const changing = document.querySelector('.who a[href^="/desk/sign-in/change"]');
changing?.addEventListener('click', async event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const leave = () => { location.href = changing.href; };
    try {
        const reply = await fetch(changing.href, { redirect: 'error' });
        const page = new DOMParser().parseFromString(await reply.text(), 'text/html'), form = page.getElementById('change');
        // Whoever comes by passkey or signs in in full has that page for it.
        if (!form || form.querySelector(':checked[data-passkey]')) return leave();
        const over = document.createElement('dialog'), title = page.querySelector('h1');
        title.id = 'changing';
        over.setAttribute('aria-labelledby', 'changing');
        over.append(title, form, page.querySelector('.other-ways'));
        document.body.append(over);
        over.addEventListener('close', () => over.remove());
        over.querySelector('[data-cancel]')?.addEventListener('click', event => { event.preventDefault(); over.close(); });
        takeOver(form, null, leave);
        over.showModal();
    } catch { leave(); }
});

// A new passkey of the own account.
const register = document.getElementById('register');
if (register && window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
    register.addEventListener('submit', async event => {
        event.preventDefault();
        const problem = register.querySelector('.problem');
        try {
            const body = new URLSearchParams({ name: register.elements.name.value });
            const asked = await (await fetch('/desk/account/passkeys/question', { method: 'POST', body })).json();
            const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(asked.publicKey);
            register.elements.credential.value = JSON.stringify((await navigator.credentials.create({ publicKey })).toJSON());
            register.submit();
        } catch {
            problem.textContent = register.dataset.failed;
            problem.hidden = false;
        }
    });
} else if (register) {
    register.remove();
}

// Members are found while somebody types; the latest question wins.
const asker = (path, found, lost) => {
    let asked, timer;
    const ask = async query => {
        asked?.abort();
        asked = new AbortController();
        try {
            const reply = await fetch(path + query, { signal: asked.signal, redirect: 'manual' });
            // Signed out meanwhile: the whole page says so.
            if (!reply.ok) return lost();
            found(await reply.text(), query);
        } catch (error) {
            if (error.name !== 'AbortError') lost();
        }
    };
    return { soon: query => { clearTimeout(timer); timer = setTimeout(ask, 120, query); }, stop: () => { clearTimeout(timer); asked?.abort(); } };
};
const search = document.getElementById('search');
if (search) {
    const { soon } = asker('/desk/members?part=found&', (html, query) => {
        document.getElementById('found').innerHTML = html;
        history.replaceState(null, '', '/desk/members?' + query);
    }, () => search.submit());
    search.elements.q.addEventListener('input', () => soon(new URLSearchParams({ q: search.elements.q.value })));
}

// A form that shows something else as soon as another value is chosen.
document.querySelectorAll('form[data-auto]').forEach(form => form.addEventListener('change', () => form.requestSubmit()));

// Today: what is typed narrows the arrivals at once, and members who fit stand below them.
const find = document.getElementById('find');
const coming = document.getElementById('coming');
let narrow = () => {};
if (find && coming) {
    const field = find.elements.q, found = document.getElementById('found');
    const fold = text => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
    const rows = () => [...document.querySelectorAll('#coming li, #found li')].filter(row => row.checkVisibility());
    const press = row => row?.querySelector('button:not(.quiet), .button') ?? row?.querySelector('.n');
    const fits = (row, words) => {
        const who = row.querySelector('.n'), name = fold(who.textContent), number = who.pathname.split('/').pop();
        const parts = name.split(/[\s\-.]+/);
        return words.every(word => number === word || parts.some(part => part.startsWith(word)) || (word.length > 2 && name.includes(word)));
    };
    let folded = null;
    narrow = () => {
        const words = fold(field.value).replace('#', '').split(/\s+/).filter(Boolean), earlier = coming.querySelector('.earlier');
        if (earlier && words.length) {
            folded ??= !earlier.open;
            earlier.open = true;
        } else if (earlier && folded !== null) {
            earlier.open = !folded;
            folded = null;
        }
        coming.querySelectorAll('ul').forEach(hour => {
            for (const row of hour.children) row.hidden = !fits(row, words);
            hour.hidden = hour.previousElementSibling.hidden = ![...hour.children].some(row => !row.hidden);
        });
        coming.classList.toggle('none', words.length > 0 && ![...coming.querySelectorAll('ul')].some(hour => !hour.hidden));
        document.querySelectorAll('.first').forEach(row => row.classList.remove('first'));
        if (words.length) rows()[0]?.classList.add('first');
    };
    const { soon, stop } = asker('/desk?part=found&', html => {
        if (!field.value.trim()) return;
        found.innerHTML = html;
        found.hidden = false;
        narrow();
    }, () => find.submit());
    field.addEventListener('input', () => {
        if (field.value.trim()) soon(new URLSearchParams(new FormData(find)));
        else {
            stop();
            found.hidden = true;
            found.replaceChildren();
        }
        narrow();
    });
    find.addEventListener('submit', event => {
        const first = document.querySelector('.first');
        if (!first) return;
        event.preventDefault();
        press(first).click();
    });
    const step = (row, by) => {
        const all = rows(), next = all[row ? all.indexOf(row) + by : 0];
        if (next) press(next).focus();
        else if (by < 0) field.focus();
    };
    addEventListener('keydown', event => {
        const into = event.target.closest?.('input, select, textarea'), row = event.target.closest?.('#coming li, #found li');
        if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
        if (event.key === '/' && !into) field.select();
        else if (event.key === 'ArrowDown' && (into === field || row)) step(row, 1);
        else if (event.key === 'ArrowUp' && row) step(row, -1);
        else return;
        event.preventDefault();
    });
    if (field.value) narrow();
}

// Parts of a page that renew themselves, while somebody is there to look: an unattended page lets its session go idle.
const WATCHED_MS = 20 * 60 * 1000;
// A page that hears of changes asks each so many times as seldom, for what changes with the clock alone.
const HEARING_TIMES = 7;
const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea';
const live = () => [...document.querySelectorAll('[data-live]')];
let touched = Date.now();
['pointerdown', 'keydown', 'scroll'].forEach(kind => addEventListener(kind, () => { touched = Date.now(); }, { passive: true }));
// What the server sent of a part, which the search may have changed since.
const sent = new WeakMap();
const called = control => control.getAttribute('aria-label') ?? control.textContent;
const renew = (part, fresh) => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    // Nobody's typing is lost.
    if (!fresh || fresh.innerHTML === (sent.get(part) ?? part.innerHTML) || focused?.matches('input, select, textarea')) return;
    const around = focused?.closest('[id]').id, earlier = part.querySelector('details')?.open;
    sent.set(part, fresh.innerHTML);
    part.replaceChildren(...fresh.childNodes);
    if (earlier) part.querySelector('details')?.setAttribute('open', '');
    narrow();
    if (!('live' in fresh.dataset)) delete part.dataset.live;
    if (!focused) return;
    // The focus stays on what it was on. Where that is gone it never moves on to something that does something else.
    const there = document.getElementById(around) ?? part, controls = [...there.querySelectorAll(CONTROLS)];
    const same = there.matches(CONTROLS) ? there : controls.find(one => called(one) === called(focused));
    (same ?? controls.find(one => one.matches('a.n')) ?? controls.find(one => one.matches('a')) ?? document.getElementById('main')).focus({ preventScroll: true });
};
if (live().length) {
    const watched = () => !document.hidden && Date.now() - touched < WATCHED_MS;
    const often = Math.min(...live().map(part => part.dataset.live)) * 1000;
    let events, asking = false, again = false, times = 0;
    const ask = async () => {
        if (asking) { again = true; return; }
        asking = true;
        try {
            const reply = await fetch(location.href, { redirect: 'error' });
            if (!reply.ok) throw reply.status;
            const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
            live().forEach(part => renew(part, page.getElementById(part.id)));
        } catch { /* The next time will do. */ } finally { asking = false; }
        if (again) { again = false; ask(); }
    };
    // Today hears of each change at once. Where it hears nothing, and on the other parts, it asks now and then.
    const listen = () => {
        if (!coming || !watched()) { events?.close(); events = null; return; }
        if (events && events.readyState !== EventSource.CLOSED) return;
        events = new EventSource('/desk/live');
        events.addEventListener('changed', () => watched() && ask());
    };
    listen();
    document.addEventListener('visibilitychange', () => { if (watched()) ask(); listen(); });
    setInterval(() => {
        listen();
        if (events?.readyState === EventSource.OPEN && ++times < HEARING_TIMES) return;
        times = 0;
        if (watched() && live().length) ask();
    }, often);
}
