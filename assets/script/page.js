// Progressive enhancement of every page; all work without this script.
'use strict';
document.documentElement.classList.add('scripted');

// A form with `data-once` is sent only once, whatever is clicked or tapped.
addEventListener('submit', event => {
    const form = event.target;
    if (!('once' in form.dataset)) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
});
addEventListener('pageshow', () => document.querySelectorAll('form[data-sent]').forEach(form => delete form.dataset.sent));

// A page that was refused begins at its problem, however far down the form is.
{
    const problem = document.querySelector('main .problem[role=alert]:not([hidden])');
    // At a kiosk a field that has the focus opens the keys over the page.
    const focuses = !document.documentElement.classList.contains('kiosk') && !document.querySelector('[autofocus]');
    // The field that names the problem, else the first field of the form below it in the same part of the page.
    const after = form => problem.compareDocumentPosition(form) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINS);
    const first = () => [...problem.closest('section')?.querySelectorAll('form') ?? []].find(after)?.querySelector('input:not([type=hidden]):not([hidden]), select, textarea');
    const named = () => problem.id && document.querySelector(`[aria-describedby~="${problem.id}"]`);
    if (problem && focuses) (named() || first())?.focus({ preventScroll: true });
    problem?.scrollIntoView({ block: 'center', behavior: 'instant' });
}

// Buttons that print the page or copy a list, for secrets that are shown once.
document.querySelectorAll('[data-print]').forEach(button => button.addEventListener('click', () => print()));
document.querySelectorAll('[data-copy]').forEach(button => button.addEventListener('click', async () => {
    const rows = [...document.getElementById(button.dataset.copy).children].map(row => row.textContent);
    await navigator.clipboard.writeText(rows.join('\n'));
    button.textContent = button.dataset.copied;
}));

// Parts with `data-live` are read anew at each change that the server tells of, where the page has a stream, and after so many seconds,
// for what changes with time.
if (document.querySelector('[data-live]') && !document.body.dataset.keptAt) {
    // A clerk's page that nobody attends lets its session become idle.
    const ATTENDED_MS = 20 * 60 * 1000;
    // An answer that takes longer is none.
    const ANSWER_MS = 8000;
    const CONTROLS = 'a[href], button, input:not([type=hidden]), select, textarea';
    const main = document.getElementById('main'), isClerks = main && 'clerk' in main.dataset;
    // With an open stream a page is read less often, by the factor `calm`. A page that answers a form has the address of the form,
    // which cannot be read.
    const { stream, calm = 7 } = document.body.dataset, address = main?.dataset.address ?? location.href;
    const live = () => [...document.querySelectorAll('[data-live]')];
    let touched = Date.now();
    ['pointerdown', 'keydown', 'scroll'].forEach(kind => addEventListener(kind, () => { touched = Date.now(); }, { passive: true }));
    // Nothing moves away under a finger or the mouse between its press and the click.
    // A press whose end is not told, outside the window for example, holds nothing for longer.
    const PRESS_MS = 3000;
    let heldUntil = 0;
    const held = () => Date.now() < heldUntil;
    addEventListener('pointerdown', () => { heldUntil = Date.now() + PRESS_MS; }, { passive: true, capture: true });
    ['pointerup', 'pointercancel'].forEach(kind => addEventListener(kind, () => setTimeout(() => {
        heldUntil = 0;
        if (waits) { waits = false; ask(); }
    }), { passive: true, capture: true }));
    const attended = () => !document.hidden && (!isClerks || Date.now() - touched < ATTENDED_MS);
    // The HTML of each part as the server sent it, before a script changed it.
    const sent = new WeakMap();
    const labelOf = control => control.getAttribute('aria-label') ?? control.textContent;
    // A row of the arrivals is known by the link that has its ID.
    const rowOf = one => one?.closest('.lines-of-day > li') ?? one;
    const anchorOf = one => rowOf(one)?.querySelector('a[id]') ?? one?.closest('[id]');
    const renew = (part, fresh) => {
        const focused = part.contains(document.activeElement) ? document.activeElement : null;
        if (!fresh || fresh.innerHTML === (sent.get(part) ?? part.innerHTML)) return;
        // A focused field is left alone, so that no typing is lost, and so is a form that is being sent.
        if (focused?.matches('input, select, textarea') || part.querySelector('form[data-asking], form[data-sent]')) return;
        const around = anchorOf(focused)?.id, earlier = part.querySelector('details')?.open;
        sent.set(part, fresh.innerHTML);
        part.replaceChildren(...fresh.childNodes);
        if (earlier) part.querySelector('details')?.setAttribute('open', '');
        dispatchEvent(new Event('renewed'));
        if (!('live' in fresh.dataset)) delete part.dataset.live;
        if (!focused) return;
        // Focus returns to the same control. Where that is gone, focus moves to a link, never to another button.
        const there = rowOf(document.getElementById(around)) ?? part, controls = [...there.querySelectorAll(CONTROLS)];
        const same = there.matches(CONTROLS) ? there : controls.find(one => labelOf(one) === labelOf(focused));
        (same ?? controls.find(one => one.matches('[href*=members]')) ?? controls.find(one => one.matches('a')) ?? main)?.focus({ preventScroll: true });
    };
    let events, asking = false, again = false, waits = false, times = 0;
    const ask = async () => {
        if (held()) { waits = true; return; }
        if (asking) { again = true; return; }
        asking = true;
        try {
            const reply = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) });
            if (!reply.ok) throw reply.status;
            const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
            if (held()) waits = true; else live().forEach(part => renew(part, page.getElementById(part.id)));
            dispatchEvent(new CustomEvent('answered', { detail: page }));
        } catch {
            dispatchEvent(new Event('unanswered'));
        } finally { asking = false; }
        if (again) { again = false; ask(); }
    };
    const listen = () => {
        if (!stream || !attended()) { events?.close(); events = null; return; }
        if (events && events.readyState !== EventSource.CLOSED) return;
        events = new EventSource(stream);
        events.addEventListener('changed', () => attended() && ask());
        // What changed since the page was made, or since the stream was cut, was told to nobody.
        events.addEventListener('open', ask);
    };
    listen();
    document.addEventListener('visibilitychange', () => { if (attended()) ask(); listen(); });
    setInterval(() => {
        listen();
        if (events?.readyState === EventSource.OPEN && ++times < calm) return;
        times = 0;
        if (attended() && live().length) ask();
    }, Math.min(...live().map(part => part.dataset.live)) * 1000);
}
