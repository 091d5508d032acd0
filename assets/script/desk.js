// The pages of the desk, beside what page.js does for every page.
'use strict';
// Change of clerk: choosing a colleague sets the username for a passkey, and the sixth digit submits the PIN.
const watchChange = (form, username, byPasskey) => {
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
if (change) watchChange(change, document.getElementById('username'), () => {});

// The change of clerk opens in a dialog over the present page.
const changing = document.querySelector('.who a[href^="/desk/sign-in/change"]');
changing?.addEventListener('click', async event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const leave = () => { location.href = changing.href; };
    try {
        const reply = await fetch(changing.href, { redirect: 'error' });
        const page = new DOMParser().parseFromString(await reply.text(), 'text/html'), form = page.getElementById('change');
        // Passkeys and full sign-ins need the whole page.
        if (!form || form.querySelector(':checked[data-passkey]')) return leave();
        const over = document.createElement('dialog'), title = page.querySelector('h1');
        title.id = 'changing';
        over.setAttribute('aria-labelledby', 'changing');
        over.append(title, form, page.querySelector('.other-ways'));
        document.body.append(over);
        over.addEventListener('close', () => over.remove());
        over.querySelector('[data-cancel]')?.addEventListener('click', event => { event.preventDefault(); over.close(); });
        watchChange(form, null, leave);
        over.addEventListener('close', () => changing.dispatchEvent(new Event('stayed')));
        over.showModal();
    } catch { leave(); }
});

// Searches while the clerk types; a later query aborts an earlier one. `failed` runs where the server does not answer.
const liveSearch = (path, found, failed) => {
    let request, timer;
    const ask = async query => {
        request?.abort();
        request = new AbortController();
        try {
            const reply = await fetch(path + query, { signal: request.signal, redirect: 'manual' });
            // A redirect to the sign-in: the whole page follows it.
            if (!reply.ok) return failed();
            found(await reply.text(), query);
        } catch (error) {
            if (error.name !== 'AbortError') failed();
        }
    };
    return { soon: query => { clearTimeout(timer); timer = setTimeout(ask, 120, query); }, stop: () => { clearTimeout(timer); request?.abort(); } };
};
const search = document.getElementById('search');
if (search) {
    const { soon } = liveSearch('/desk/members?part=found&', (html, query) => {
        document.getElementById('found').innerHTML = html;
        history.replaceState(null, '', '/desk/members?' + query);
    }, () => search.submit());
    search.elements.q.addEventListener('input', () => soon(new URLSearchParams({ q: search.elements.q.value })));
}

// A form with `data-auto` is submitted at every change.
document.querySelectorAll('form[data-auto]').forEach(form => form.addEventListener('change', () => form.requestSubmit()));

// Today: the search field filters the arrivals at once, and members who match are listed below them.
const find = document.getElementById('find');
const arrivals = document.getElementById('coming');
if (find && arrivals) {
    const field = find.elements.q, found = document.getElementById('found');
    const BETWEEN_WORDS = /[\s\p{Pd}.,]+/u;
    // As the server folds names for its search.
    const plain = { ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŋ: 'n', ı: 'i', ς: 'σ' };
    const spelt = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
    const fold = text => text.toLowerCase().normalize('NFKD').replace(/\p{M}|['’‘ʼʻ′`´＇·]/gu, '').replace(/[ßæœþøłđðħŋıς]/g, letter => plain[letter]);
    // A text as it is folded, and with its umlauts spelt out: `mueller` is Müller, and `müller` Mueller.
    const forms = text => [fold(text), fold(text.toLowerCase().normalize('NFC').replace(/[äöüøå]/g, letter => spelt[letter]))];
    const rows = () => [...document.querySelectorAll('#coming li, #found li')].filter(row => row.checkVisibility());
    const nameOf = row => row?.querySelector('[href*=members]');
    const toDo = row => row.querySelector('button:not([formaction$=undo]), .button');
    const press = row => toDo(row) ?? nameOf(row);
    const fits = (row, words) => {
        const who = nameOf(row), number = who.pathname.split('/').pop();
        return forms(who.textContent).some((name, form) => {
            const parts = name.split(BETWEEN_WORDS), joined = parts.join('');
            return words[form].every(word => number === word || parts.some(part => part.startsWith(word)) || (word.length > 2 && joined.includes(word)));
        });
    };
    // The query that the listed members match. Members of an earlier query are never first.
    let answered = field.value.trim();
    // The first arrival who can be checked in stands before those who are here already or did not come.
    const choose = () => {
        const all = rows().filter(row => arrivals.contains(row) || (field.value.trim() === answered && !row.closest('[data-guessed]')));
        return all.find(row => arrivals.contains(row) && toDo(row)) ?? all[0];
    };
    // The same line after the arrivals were renewed.
    const sameRow = row => row.isConnected ? row : rows().find(one => nameOf(one).id && nameOf(one).id === nameOf(row).id);
    let folded = null, first = null;
    // Enter acts on the line that the clerk saw marked: only typing marks another one.
    const narrow = (typing = false) => {
        const words = forms(field.value).map(text => text.replace('#', '').split(BETWEEN_WORDS).filter(Boolean)), earlier = arrivals.querySelector('.earlier');
        if (earlier && words[0].length) {
            folded ??= !earlier.open;
            earlier.open = true;
        } else if (earlier && folded !== null) {
            earlier.open = !folded;
            folded = null;
        }
        arrivals.querySelectorAll('ul').forEach(hour => {
            for (const row of hour.children) row.hidden = !fits(row, words);
            hour.hidden = hour.previousElementSibling.hidden = ![...hour.children].some(row => !row.hidden);
        });
        arrivals.classList.toggle('none', words[0].length > 0 && ![...arrivals.querySelectorAll('ul')].some(hour => !hour.hidden));
        document.querySelectorAll('.list-of-day .first').forEach(row => row.classList.remove('first'));
        first = words[0].length ? (first && !typing ? sameRow(first) : choose()) : null;
        first?.classList.add('first');
    };
    const { soon, stop } = liveSearch('/desk?part=found&', (html, query) => {
        if (!field.value.trim()) return;
        answered = new URLSearchParams(query).get('q').trim();
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
        narrow(true);
    });
    const isInSight = row => {
        const { top, bottom } = row.getBoundingClientRect();
        return top >= find.getBoundingClientRect().bottom && bottom <= innerHeight;
    };
    // At once: a smooth scroll stays behind an arrow key that is held down.
    const focus = row => {
        press(row).focus({ preventScroll: true });
        if (!isInSight(row)) row.scrollIntoView({ block: 'center', behavior: 'instant' });
    };
    find.addEventListener('submit', event => {
        if (!first) return;
        event.preventDefault();
        // A line below the screen is brought to sight, and pressed by the next Enter.
        if (isInSight(first)) press(first).click(); else focus(first);
    });
    const step = (row, by) => {
        const all = rows(), next = all[row ? all.indexOf(row) + by : 0];
        if (next) focus(next);
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
    // A card reader types faster than people, and ends with Enter, Tab or nothing. It is searched wherever the cursor is.
    let read = '', last = 0, into, before, timer;
    const isReading = () => read.length > 5 && read.replace(/[a-z]/gi, '').length > 3;
    const take = () => {
        if (into.value !== undefined) into.value = before;
        field.focus();
        field.value = read;
        field.dispatchEvent(new Event('input'));
        read = '';
    };
    addEventListener('keydown', event => {
        const { key, target, timeStamp } = event;
        clearTimeout(timer);
        if (timeStamp - last > 50 || event.repeat) read = '';
        last = timeStamp;
        if (key.length === 1) {
            // The key that leads to the search is no part of what is read.
            if (!read && key === '/' && !target.closest?.('input, select, textarea')) return;
            if (!read) [into, before] = [target, target.value];
            read += key;
            timer = setTimeout(() => isReading() && take(), 150);
        } else if (/Enter|Tab/.test(key) && isReading() && (key === 'Tab' || into !== field)) {
            event.preventDefault();
            take();
        }
    }, { capture: true });
    // The arrivals were read anew.
    addEventListener('renewed', () => narrow());
    if (field.value) narrow();
}

// Days and times are shown in the order of the page's language: a browser shows its own fields in the order of its own. Only where the
// two differ, dates.js puts fields of text before the browser's.
{
    const { dates } = document.getElementById('main')?.dataset ?? {}, day = { dateStyle: 'short' }, time = { timeStyle: 'short' };
    const orderOf = language => [day, time].map(form => new Intl.DateTimeFormat(language, form).formatToParts().map(one => one.type).filter(type => type !== 'literal').join()).join();
    const differs = dates && orderOf(document.documentElement.lang) !== orderOf();
    if (differs && document.querySelector('[type=date], [type=time]')) document.head.append(Object.assign(document.createElement('script'), { src: dates }));
}

// What was typed into a form is there again after the sign-in where the session had ended, and where the form was refused for
// a reason without a field, with that reason beside it: in the same tab, for the same clerk; and for a colleague who takes over by
// *Change of clerk*. Passwords, codes, files and hidden fields are not kept. Everything is forgotten on the next page, and when the clerk signs out.
{
    const KEPT_MS = 30 * 60 * 1000;
    const page = document.querySelector('main[data-clerk]'), clerk = page?.dataset.clerk;
    // The sign-in after an ended session, or the error page of a form, which names the page of the form.
    const lost = document.querySelector('[data-said]'), formPage = lost?.dataset.form;
    let kept = {};
    try { kept = JSON.parse(sessionStorage.kept); } catch { /* Nothing is kept, or this browser keeps nothing. */ }
    const keep = values => { try { sessionStorage.kept = JSON.stringify(Object.assign(kept, values)); } catch { /* See above. */ } };
    const typed = form => [...form.elements].filter(one => one.name && !one.matches('button, [type=hidden], [type=password], [type=file], [autocomplete=one-time-code]'));
    const same = action => [...document.querySelectorAll('form')].filter(form => form.getAttribute('action') === action);
    // The text beside the form, or first on the page where the form is gone.
    const say = form => {
        const said = Object.assign(document.createElement('p'), { className: kept.tone, textContent: kept.said });
        said.setAttribute('role', kept.tone === 'problem' ? 'alert' : 'status');
        if (form?.checkVisibility()) form.before(said); else page.prepend(said);
        said.scrollIntoView({ block: 'center', behavior: 'instant' });
    };
    const fill = (form, fields) => {
        typed(form).forEach((one, at) => {
            const [name, value, checked] = fields[at] ?? [];
            if (name === one.name && (value === one.value || !/radio|checkbox/.test(one.type))) [one.value, one.checked] = [value, checked];
            one.shows?.();
        });
        for (let around = form; around = around.parentElement.closest('details');) around.open = true;
    };
    if (lost) keep({ said: lost.dataset.said, tone: lost.dataset.tone });
    if (page) {
        const isOwn = kept.said && (kept.clerk === clerk || kept.handedOver) && Date.now() - kept.at < KEPT_MS;
        const form = isOwn && same(kept.action)[kept.place], isRefused = kept.tone === 'problem';
        if (form && (isRefused || kept.fields[0])) {
            fill(form, kept.fields);
            form.querySelector('button:not([type])')?.focus({ preventScroll: true });
        }
        if (isOwn && (isRefused || (form && kept.fields[0]))) say(form);
        // A form that is half filled stays so when another one of the page is sent, and goes on from there.
        const { beside } = kept, halfFilled = beside?.clerk === clerk && beside.path === location.pathname && Date.now() - beside.at < KEPT_MS && same(beside.action)[beside.place];
        let filling = halfFilled || undefined;
        if (filling) fill(filling, beside.fields);
        // A page that answers a form has no address; the page before it has.
        keep({ clerk, said: '', fields: [], handedOver: false, beside: undefined, page: page.dataset.address ? kept.page : location.pathname + location.search });
        const copyOf = form => {
            const action = form.getAttribute('action');
            return { at: Date.now(), action, place: same(action).indexOf(form), fields: typed(form).map(one => [one.name, one.value, one.checked]) };
        };
        // A colleague who takes over goes on with the form that is half filled.
        addEventListener('input', ({ target }) => { if (target.form?.method === 'post' && target.form.id !== 'change') filling = target.form; });
        changing?.addEventListener('click', () => {
            if (!filling?.isConnected) return;
            keep({ ...copyOf(filling), handedOver: true, said: changing.dataset.kept, tone: 'note good' });
        });
        changing?.addEventListener('stayed', () => keep({ handedOver: false, said: '', fields: [] }));
        addEventListener('submit', ({ target, submitter }) => {
            const action = target.getAttribute('action');
            if (target.method !== 'post' || target.id === 'change') return;
            if (action === '/desk/sign-out') {
                kept = {};
                return keep({});
            }
            const isBeside = filling?.isConnected && filling !== target;
            keep({ ...copyOf(target), to: submitter?.getAttribute('formaction') ?? action, beside: isBeside ? { ...copyOf(filling), clerk, path: location.pathname } : undefined });
        });
    } else if (formPage && location.pathname === kept.to) location.replace(formPage);
    else if (kept.said) document.querySelectorAll('[name=to]').forEach(one => { one.value = kept.page; });
}
