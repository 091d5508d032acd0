// Without network: what waits is shown, flight time is kept before it is sent, and each is sent on opening and when there is network
// again. Only where the browser has a safe connection, a worker and a store.
'use strict';
if (isSecureContext && 'serviceWorker' in navigator && globalThis.kept) {
    const page = document.body.dataset;
    /** Milliseconds that a sending may take, and between two while something waits. */
    const SENDING = 15_000, AGAIN = 20_000;
    const byId = id => document.getElementById(id);
    const language = document.documentElement.lang;
    const show = (id, text) => {
        const place = byId(id);
        if (!place) return;
        if (text) place.textContent = text;
        place.hidden = false;
    };
    const needsNetwork = () => {
        show('needs-network');
        byId('needs-network')?.scrollIntoView({ block: 'center', behavior: 'instant' });
    };
    const list = async () => {
        const place = byId('waiting');
        if (!place) return;
        const all = await kept.waiting(page.member);
        const lines = all.map(one => {
            const line = place.querySelector('template').content.cloneNode(true);
            line.querySelector('.what').textContent = `${one.fields.minutes} min · ${one.fields.date}`;
            const [reason, discard] = [line.querySelector('.bad'), line.querySelector('button')];
            reason.textContent = one.refused ?? '';
            reason.hidden = discard.hidden = !one.refused;
            discard.addEventListener('click', async () => {
                await kept.remove(one.number);
                await list();
            });
            return line;
        });
        place.querySelector('ul').replaceChildren(...lines);
        place.hidden = !all.length;
    };
    /** Sends one: `sent`, `refused` for good, or `waits`. */
    const send = async one => {
        const body = new URLSearchParams({ ...one.fields, member: one.member, number: one.number }).toString();
        let reply, reason;
        try {
            reply = await fetch('/me/kept', {
                method: 'POST', redirect: 'manual', signal: AbortSignal.timeout(SENDING), body,
                headers: { 'content-type': 'application/x-www-form-urlencoded' },
            });
            reason = await reply.text();
        } catch {
            return 'waits';
        }
        if (reply.status === 204) {
            await kept.remove(one.number);
            return 'sent';
        }
        // What the server will never take is shown with its reason, and stops nothing behind it.
        if (![400, 404, 409, 413, 422].includes(reply.status)) return 'waits';
        await kept.put({ ...one, refused: reason });
        return 'refused';
    };
    /** Sends what waits; whether nothing does any more. What was refused waits for its owner. */
    const sendAll = async () => {
        let sent = false;
        for (const one of await kept.waiting(page.member)) {
            if (one.refused) continue;
            const outcome = await send(one);
            if (outcome === 'waits') return false;
            sent ||= outcome === 'sent';
        }
        if (sent) navigator.serviceWorker.controller?.postMessage('all');
        return true;
    };
    let sending;
    const drain = () => sending ??= sendAll().finally(() => { sending = undefined; list(); });
    const drainUntilSent = async () => {
        if (!await drain().catch(() => true)) setTimeout(drainUntilSent, AGAIN);
    };
    // The next flight of a page, or of a page that was kept, has another number.
    const renumber = form => {
        const [random] = crypto.getRandomValues(new BigUint64Array(1));
        form.elements.number.value = form.elements.number.defaultValue = String((random >> 12n) + 1n);
    };
    const takeTime = async form => {
        // The form's own number: sent by the form too, the flight is the same.
        const { number, ...fields } = Object.fromEntries(new FormData(form));
        const one = { number, member: page.member, at: Date.now(), fields };
        // Kept before it is sent, so that it cannot be lost.
        await kept.put(one);
        const outcome = await send(one);
        if (outcome === 'sent') return location.assign('/me/logbook?done=logged');
        if (outcome === 'refused') {
            // The page of the form says why, beside its fields.
            await kept.remove(one.number);
            return form.submit();
        }
        delete form.dataset.sent;
        form.reset();
        renumber(form);
        await list();
        byId('waiting').scrollIntoView({ block: 'center', behavior: 'instant' });
        drainUntilSent();
    };
    const leave = async form => {
        if (form.dataset.warned || await drain().catch(() => true)) return form.submit();
        form.dataset.warned = 'yes';
        show('waits-lost');
    };
    if (page.member) {
        navigator.serviceWorker.register('/app/worker.js', { scope: '/me' })
            .then(() => navigator.serviceWorker.ready)
            .then(({ active }) => page.keptAt || active.postMessage(location.search.includes('done=') ? 'all' : 'old'))
            .catch(() => {});
        addEventListener('submit', event => {
            const form = event.target;
            if (event.defaultPrevented) return;
            if ('keeps' in form.dataset) {
                event.preventDefault();
                takeTime(form).catch(() => form.submit());
            } else if (form.action.endsWith('/me/sign-out')) {
                event.preventDefault();
                leave(form);
            } else if (page.keptAt && form.method === 'post') {
                event.preventDefault();
                delete form.dataset.sent;
                needsNetwork();
            }
        });
        if (page.keptAt) {
            document.querySelectorAll('form[data-keeps]').forEach(renumber);
            const when = new Date(Number(page.keptAt)).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
            show('kept', byId('kept')?.dataset.text.replace('{when}', when));
            const day = byId('date');
            if (day && !('entry' in day.form.dataset)) day.value = day.max = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
        }
        addEventListener('online', drainUntilSent);
        list().then(drainUntilSent).catch(() => {});
    } else if (document.querySelector('form[action="/me/sign-in"]')) kept.end(Date.now()).catch(() => {});

    // Installing: by the browser where it offers it, else in words. Not in the installed pages.
    const install = byId('install');
    if (install && !matchMedia('(display-mode: standalone)').matches && !navigator.standalone) {
        const isApple = 'standalone' in navigator;
        install.querySelector(isApple ? '[data-way=share]' : '[data-way=menu]').hidden = false;
        install.hidden = false;
        addEventListener('beforeinstallprompt', event => {
            const button = install.querySelector('button');
            button.hidden = false;
            install.querySelector('[data-way=menu]').hidden = true;
            button.onclick = () => event.prompt();
        });
    }
}
