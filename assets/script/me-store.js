// What a member's telephone keeps for times without network, in one database that the pages and their worker share: the pages of the
// last visit, of one member at a time, and flight time that waits to be sent. No PIN and no code of a kiosk.
'use strict';
globalThis.kept = (() => {
    /** Milliseconds after which nothing is shown any more. */
    const LIFE = 7 * 86_400_000;
    const open = () => new Promise((done, fail) => {
        const asked = indexedDB.open('me', 1);
        asked.onupgradeneeded = () => {
            asked.result.createObjectStore('pages', { keyPath: 'path' });
            asked.result.createObjectStore('waiting', { keyPath: 'number' });
            asked.result.createObjectStore('owner');
        };
        asked.onsuccess = () => done(asked.result);
        asked.onerror = () => fail(asked.error);
    });
    /** One transaction over all; what `work` passes to its last argument is the outcome. */
    const change = async work => {
        const db = await open();
        try {
            return await new Promise((done, fail) => {
                const tx = db.transaction(['pages', 'waiting', 'owner'], 'readwrite', { durability: 'strict' });
                let outcome;
                tx.oncomplete = () => done(outcome);
                tx.onabort = tx.onerror = () => fail(tx.error);
                const [pages, waiting, owner] = ['pages', 'waiting', 'owner'].map(name => tx.objectStore(name));
                work({ pages, waiting, owner }, value => { outcome = value; });
            });
        } finally {
            db.close();
        }
    };
    /** Calls `then` with who was signed in last, as far as is known: `{ member, asked }`, of the latest request that told. */
    const withOwner = (owner, then) => { owner.get('now').onsuccess = ({ target }) => then(target.result ?? { member: null, asked: 0 }); };
    /** Removes what matches. */
    const removeWhere = (store, matches) => {
        store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
            if (!cursor) return;
            if (matches(cursor.value)) cursor.delete();
            cursor.continue();
        };
    };
    return {
        /** Keeps a page that was asked for at `page.at`, unless somebody else was signed in, or the visit ended, since. */
        keep: page => change(({ pages, owner }) => withOwner(owner, last => {
            if (last.member !== page.member) {
                if (last.asked >= page.at) return;
                pages.clear();
            }
            if (last.asked < page.at) owner.put({ member: page.member, asked: page.at }, 'now');
            pages.put(page);
        })),
        /** Nobody is signed in any more, as a request of this moment told. After a sign-out nothing waits for the member either. */
        end: (asked, signedOut) => change(({ pages, waiting, owner }) => withOwner(owner, last => {
            if (last.asked > asked) return;
            owner.put({ member: null, asked }, 'now');
            pages.clear();
            if (signedOut) removeWhere(waiting, one => one.member === last.member);
        })),
        /** The kept page of that path, if the member of the last visit may still see it. */
        page: path => change(({ pages, waiting, owner }, give) => withOwner(owner, last => {
            const end = Date.now() - LIFE;
            removeWhere(pages, page => page.at < end || page.member !== last.member);
            // Of somebody else who did not come back. The member's own wait until they are sent.
            removeWhere(waiting, one => one.at < end && one.member !== last.member);
            pages.get(path).onsuccess = ({ target: { result: page } }) => give(page?.at >= end && page.member === last.member ? page : undefined);
        })),
        /** The moments of the kept pages by their paths. */
        ages: () => change(({ pages }, give) => { pages.getAll().onsuccess = ({ target }) => give(Object.fromEntries(target.result.map(page => [page.path, page.at]))); }),
        /** Adds or replaces flight time that waits. */
        put: one => change(({ waiting }) => { waiting.put(one); }),
        remove: number => change(({ waiting }) => { waiting.delete(number); }),
        /** What waits for the member, the oldest first. */
        waiting: member => change(({ waiting }, give) => {
            waiting.getAll().onsuccess = ({ target }) => give(target.result.filter(one => one.member === member).sort((a, b) => a.at - b.at));
        }),
    };
})();
