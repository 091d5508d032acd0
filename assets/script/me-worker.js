// The service worker of a member's own pages: keeps the pages of the last visit and shows them, with their age, without network.
// Every answer that says that nobody is signed in ends what is kept.
'use strict';
/** The pages that are kept. Their forms, papers and codes are not. */
const KEPT = ['/me', '/me/card', '/me/logbook', '/me/logbook/time', '/me/papers'];
/** Milliseconds after which a kept page is shown meanwhile, and after which it is fetched again in the background. */
const PATIENCE = 8_000, FRESH = 600_000;

const keep = async (path, reply, at) => {
    // Own pages lead nowhere but to the sign-in.
    if (reply.type === 'opaqueredirect' || reply.status === 401 || reply.status === 403) return kept.end(at);
    if (!reply.ok) return;
    const html = await reply.text();
    const member = html.match(/<body class="me" data-member="([0-9]+)"/)?.[1];
    if (member) await kept.keep({ path, member, at, html, policy: reply.headers.get('content-security-policy') });
};

const shown = page => new Response(page.html.replace('<body class="me"', `<body class="me" data-kept-at="${page.at}"`), {
    headers: {
        'content-type': 'text/html; charset=utf-8', 'content-security-policy': page.policy,
        'cache-control': 'no-store', 'referrer-policy': 'same-origin',
    },
});

const load = async (event, path, keeps) => {
    const at = Date.now();
    const answer = fetch(event.request).then(reply => {
        if (keeps) event.waitUntil(keep(path, reply.clone(), at).catch(() => {}));
        return reply;
    });
    answer.catch(() => {});
    const page = await kept.page(path).catch(() => undefined);
    const late = page && new Promise((_, fail) => setTimeout(fail, PATIENCE));
    try {
        return await (late ? Promise.race([answer, late]) : answer);
    } catch {
        return page ? shown(page) : caches.match(OFFLINE_PAGE);
    }
};

const signOut = async event => {
    const reply = await fetch(event.request);
    await kept.end(Date.now(), true).catch(() => {});
    return reply;
};

self.answerOwn = event => {
    const { request } = event, { pathname, search } = new URL(request.url);
    if (request.mode !== 'navigate') return undefined;
    if (request.method === 'POST') return pathname === '/me/sign-out' ? signOut(event) : undefined;
    // Another query is another page.
    return KEPT.includes(pathname) && (!search || search.startsWith('?done=')) ? load(event, pathname, !search) : undefined;
};

const refresh = async all => {
    const ages = await kept.ages();
    for (const path of KEPT) {
        const at = Date.now();
        if (!all && at - (ages[path] ?? 0) < FRESH) continue;
        await keep(path, await fetch(path, { redirect: 'manual', cache: 'no-store', headers: { accept: 'text/html' } }), at);
    }
};
addEventListener('message', event => event.waitUntil(refresh(event.data === 'all').catch(() => {})));
