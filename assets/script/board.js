// The board reloads its part at each change, and each ten seconds for the clock. Without an answer it says how old it is.
'use strict';

const POLL_MS = 10_000;
// An answer that takes longer is none.
const ANSWER_MS = 8_000;
const away = document.getElementById('away');
let answered = Date.now(), asking = false, again = false;

const minutes = () => Math.floor((Date.now() - answered) / 60_000);
const tell = () => {
    const { away: before, ago } = document.getElementById('board').dataset;
    away.textContent = `${before}${minutes()}${ago}`;
    away.hidden = false;
};
const ask = async () => {
    if (asking) { again = true; return; }
    asking = true;
    try {
        const reply = await fetch(location.href, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) });
        if (!reply.ok) throw reply.status;
        const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
        const scripts = [document, page].map(one => one.querySelector('script[src]')?.getAttribute('src'));
        // Revoked, or a new version of the site.
        if (!page.getElementById('board') || scripts[0] !== scripts[1]) { location.reload(); return; }
        for (const id of ['board', 'later']) document.getElementById(id).replaceWith(page.getElementById(id));
        answered = Date.now();
        away.hidden = true;
    } catch { tell(); } finally { asking = false; }
    if (again) { again = false; ask(); }
};

let events;
const listen = () => {
    if (events && events.readyState !== EventSource.CLOSED) return;
    events = new EventSource('/board/live');
    events.addEventListener('changed', ask);
};
listen();
setInterval(() => { listen(); ask(); }, POLL_MS);
