// The service worker of a kiosk: shows the offline page where a page cannot be loaded. The cache holds that page, its
// stylesheets and its scripts, and no personal data.
'use strict';
const OFFLINE_PAGE = '/kiosk/away';

addEventListener('install', event => event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    const page = await fetch(OFFLINE_PAGE, { cache: 'no-store' });
    if (!page.ok) throw new Error('the offline page could not be loaded');
    const files = [...(await page.clone().text()).matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    await Promise.all([cache.put(OFFLINE_PAGE, page), cache.addAll([...new Set(files)])]);
    await skipWaiting();
})()));

addEventListener('activate', event => event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== VERSION) await caches.delete(name);
    await clients.claim();
})()));

addEventListener('fetch', event => {
    const { request } = event;
    if (request.method !== 'GET') return;
    if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => caches.match(OFFLINE_PAGE)));
    else if (new URL(request.url).pathname.startsWith('/assets/')) event.respondWith(fetch(request).catch(async () => await caches.match(request) ?? Response.error()));
});
