// The board, beside what page.js does for its parts: without an answer it says how old it is.
'use strict';
const away = document.getElementById('away');
let answered = Date.now();
const scripts = page => [...page.querySelectorAll('script[src]')].map(one => one.getAttribute('src')).join();
addEventListener('answered', ({ detail: page }) => {
    // Revoked, or a new version of the site.
    if (!page.getElementById('board') || scripts(page) !== scripts(document)) { location.reload(); return; }
    answered = Date.now();
    away.hidden = true;
});
addEventListener('unanswered', () => {
    const { away: before, ago } = document.querySelector('header').dataset;
    away.textContent = `${before}${Math.floor((Date.now() - answered) / 60_000)}${ago}`;
    // Loaded without the site, it says so itself, and has no age.
    away.hidden = !before;
});
// The service worker shows the board without the site where it is loaded then; over https and on localhost only.
if (isSecureContext) navigator.serviceWorker?.register('/board/worker.js', { scope: '/board' }).catch(() => {});
