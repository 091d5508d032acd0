// A kiosk that is loaded while the site is away shows a page of ours, and not the browser's: it waits there, and keeps the
// check-ins that it took. Nothing of a person is in the cache: the page that waits, its style and its script.
'use strict';
const AWAY = '/kiosk/away';

addEventListener('install', event => event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    const page = await fetch(AWAY, { cache: 'no-store' });
    if (!page.ok) throw new Error('the page that waits did not come');
    const files = [...(await page.clone().text()).matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    await Promise.all([cache.put(AWAY, page), cache.addAll([...new Set(files)])]);
    await skipWaiting();
})()));

addEventListener('activate', event => event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== VERSION) await caches.delete(name);
    await clients.claim();
})()));

addEventListener('fetch', event => {
    const { request } = event;
    if (request.method !== 'GET') return;
    if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => caches.match(AWAY)));
    else if (new URL(request.url).pathname.startsWith('/assets/')) event.respondWith(fetch(request).catch(async () => await caches.match(request) ?? Response.error()));
});
