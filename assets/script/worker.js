// What the service workers share: the page for no network and the files of the pages are in a cache, which has no personal data.
'use strict';
addEventListener('install', event => event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    const page = await fetch(OFFLINE_PAGE, { cache: 'no-store' });
    if (!page.ok) throw new Error('the offline page could not be loaded');
    const files = [...(await page.clone().text()).matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    await Promise.all([cache.put(OFFLINE_PAGE, page), cache.addAll([...new Set(files)])]);
    await skipWaiting();
})()));

addEventListener('activate', event => event.waitUntil((async () => {
    // Another part of the site has a worker and a cache of its own.
    for (const name of await caches.keys()) if (name.startsWith(`${SCOPE} `) && name !== VERSION) await caches.delete(name);
    await clients.claim();
})()));

addEventListener('fetch', event => {
    const { request } = event;
    const own = self.answerOwn?.(event);
    if (own) return event.respondWith(own);
    if (request.method !== 'GET') return;
    if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => caches.match(OFFLINE_PAGE)));
    else if (new URL(request.url).pathname.startsWith('/assets/')) event.respondWith(fetch(request).catch(async () => await caches.match(request) ?? Response.error()));
});
