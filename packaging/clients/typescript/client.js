// The client: requests with their signature, their repeats and their pages, the stream of events, and the check of webhooks.
import { OPERATIONS } from './operations.js';

// Statuses after which the same request may be right a little later.
const AGAIN = [429, 502, 503, 504];
// A stream has a comment every 15 seconds; one that is silent for longer is broken.
const SILENCE_MS = 45_000;
const REPORT_ROWS = 500;
// A webhook whose time is further from now was kept by somebody, or one of the two clocks is wrong.
const TOLERANCE_SECONDS = 300;

const utf8 = new TextEncoder();
const sleep = (ms, signal) => new Promise(done => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', () => { clearTimeout(timer); done(); }, { once: true });
});
const hex = bytes => Array.from(new Uint8Array(bytes), byte => byte.toString(16).padStart(2, '0')).join('');
const joined = (head, body) => {
    const all = new Uint8Array(head.length + body.length);
    all.set(head);
    all.set(body, head.length);
    return all;
};
const keyOf = (bytes, use) => crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
const eventOf = row => ({ seq: Number(row.id.slice(row.id.lastIndexOf('-') + 1)), ...row });
const resetAt = seq => ({ seq, id: '', type: 'reset', at: Math.floor(Date.now() / 1000), data: { seq } });
const listOf = types => [types ?? []].flat().join() || undefined;
// Of what `fetch` throws, a certificate that is not trusted stays so.
const mayPass = fault => fault.name === 'AbortError' || fault instanceof TypeError && !/CERT|SIGNATURE|TLS/.test(fault.cause?.code ?? '');
const queryOf = query => {
    const said = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
    return said.length ? `?${new URLSearchParams(said.map(([name, value]) => [name, String(value)]))}` : '';
};

export class Refused extends Error {
    name = 'Refused';

    constructor(answer, text, repeated) {
        let said = {};
        try { said = Object(JSON.parse(text)); } catch { /* a proxy's page */ }
        super(`${answer.status} ${said.code ?? ''}: ${said.message ?? ''}`);
        const wait = answer.headers.get('retry-after') ?? '';
        Object.assign(this, {
            status: answer.status, code: said.code ?? '', errors: [said.errors ?? []].flat().filter(one => one?.field), headers: answer.headers, repeated,
            requestId: answer.headers.get('x-request-id') ?? '', retryAfter: /^\d+$/.test(wait) ? Number(wait) : null,
        });
    }
}

export class Lost extends Error {
    name = 'Lost';
}

export class Forged extends Error {
    name = 'Forged';
}

export class Client {
    static {
        for (const [name, operation] of Object.entries(OPERATIONS)) {
            this.prototype[name] = function (...given) { return this.#call(operation, given); };
        }
    }

    #base;
    #options;

    constructor(address, options = {}) {
        if (!/^https?:\/\/[^/]/.test(address)) throw new TypeError(`${address} is no address such as https://tunneldesk.example.com`);
        // The base address of the API's description ends with its prefix.
        this.#base = `${address.replace(/\/+$/, '').replace(/\/api$/, '')}/api`;
        this.#options = { repeats: 4, patience: 30, timeout: 30, language: 'en', ...options };
        this.token = options.token ?? '';
    }

    #checkToken(name) {
        if (!this.token) {
            throw new TypeError(`${name}() reads a report of the hall: set \`token\` to the session of a clerk, an admin or a sync account; `
                + 'a partner reads its own bookings by listOwnBookings()');
        }
    }

    async *history(after = 0, choice = {}) {
        this.#checkToken('history');
        for (;;) {
            const { data } = await this.reportHistory({ ...choice, after, limit: REPORT_ROWS });
            yield* data;
            if (data.length < REPORT_ROWS) return;
            after = data.at(-1).seq;
        }
    }

    async *bookings(choice = {}) {
        this.#checkToken('bookings');
        const seen = new Set();
        for (let offset = 0; ; offset += REPORT_ROWS) {
            const { data } = await this.reportBookings({ ...choice, offset, limit: REPORT_ROWS });
            // A booking that comes meanwhile moves the others on.
            yield* data.filter(row => !seen.has(row.booking_id));
            if (data.length < REPORT_ROWS) return;
            data.forEach(row => seen.add(row.booking_id));
        }
    }

    async *events({ types, after, signal } = {}) {
        let pause = 1000;
        while (!signal?.aborted) {
            let asked = 0;
            try {
                for await (const frame of this.#stream(types, after, signal)) {
                    if (frame.event === 'hello') {
                        // The site goes on elsewhere where events are missing.
                        if (after !== undefined && Number(frame.id) !== after) yield resetAt(Number(frame.id));
                        pause = 1000;
                    } else if (!frame.event) {
                        yield eventOf(JSON.parse(frame.data));
                    }
                    after = Number(frame.id);
                }
            } catch (fault) {
                if (signal?.aborted) return;
                if (fault instanceof Refused ? !AGAIN.includes(fault.status) : !mayPass(fault)) throw fault;
                asked = (fault.retryAfter ?? 0) * 1000;
                pause = Math.min(2 * pause, 60_000);
            }
            await sleep(Math.max(asked, pause * (0.5 + Math.random() / 2)), signal);
        }
    }

    async readEvents({ types, after, wait = 25, limit = 100 } = {}) {
        const query = { types: listOf(types), after, wait, limit };
        try {
            const request = { method: 'GET', path: `/events${queryOf(query)}`, headers: { accept: 'application/json' }, signs: 'request' };
            const { answer, bytes } = await this.#send(request, this.#options.timeout + wait);
            const rows = JSON.parse(new TextDecoder().decode(bytes));
            return { events: rows.map(eventOf), seq: Number(answer.headers.get('x-event-seq')) };
        } catch (refused) {
            if (refused.code !== 'events_gone') throw refused;
            const seq = Number(refused.headers.get('x-event-seq'));
            return { events: [resetAt(seq)], seq };
        }
    }

    async eventsAddress({ types, after } = {}) {
        const { ticket } = await this.createEventTicket();
        return `${this.#base}/events${queryOf({ types: listOf(types), after, ticket })}`;
    }

    /** The frames of one stream with a number. */
    async *#stream(types, after, signal) {
        const path = `/events${queryOf({ types: listOf(types), after })}`;
        const broken = new AbortController();
        const stop = () => broken.abort();
        let silent = setTimeout(stop, SILENCE_MS);
        signal?.addEventListener('abort', stop, { once: true });
        try {
            const answer = await this.#ask({ method: 'GET', path, headers: { accept: 'text/event-stream' }, signs: 'request' }, broken.signal);
            if (answer.status !== 200) throw new Refused(answer, await answer.text(), false);
            let left = '';
            const decoder = new TextDecoder();
            const reader = answer.body.getReader();
            for (let read = await reader.read(); !read.done; read = await reader.read()) {
                left += decoder.decode(read.value, { stream: true });
                const frames = left.split('\n\n');
                left = frames.pop();
                // Not each byte: a frame that trickles in is silence too.
                if (!frames.length) continue;
                clearTimeout(silent);
                silent = setTimeout(stop, SILENCE_MS);
                for (const frame of frames) {
                    const said = Object.fromEntries(frame.split('\n').map(line => [line.split(':', 1)[0], line.replace(/^[^:]*: ?/, '')]));
                    if ('id' in said) yield said;
                }
            }
        } finally {
            clearTimeout(silent);
            signal?.removeEventListener('abort', stop);
            broken.abort();
        }
    }

    /** Calls an operation of the table with its arguments: the parts of the path, the body, the query. */
    async #call({ method, path, body, signs, keyed, pages }, given) {
        const rest = [...given];
        const headers = {};
        const target = path.replace(/\{\w+\}/g, () => encodeURIComponent(rest.shift()));
        let content = body ? rest.shift() : undefined;
        if (content instanceof Blob) {
            headers['content-type'] = content.type;
            content = new Uint8Array(await content.arrayBuffer());
        } else if (content !== undefined) {
            headers['content-type'] = 'application/json';
            content = utf8.encode(JSON.stringify(content));
        }
        if (keyed) headers['idempotency-key'] = crypto.randomUUID();
        const query = rest.shift();
        let next = `${target}${queryOf(query)}`;
        let rows;
        for (;;) {
            const { answer, bytes } = await this.#send({ method, path: next, headers, content, signs }, this.#options.timeout);
            if (!answer.headers.get('content-type')?.includes('json')) return bytes;
            const value = JSON.parse(new TextDecoder().decode(bytes));
            rows = rows ? rows.concat(value) : value;
            const link = pages && query?.limit === undefined && answer.headers.get('link')?.match(/^<[^>?]*(\?[^>]*)>; rel="next"/);
            if (!link) return rows;
            next = target + link[1];
        }
    }

    /** Sends a request until it has an answer. Every request may go again: `GET` reads, `PUT` and `DELETE` say what shall be, and a
     * `POST` has its key, or only reads. */
    async #send(request, timeout) {
        let wasSent = false;
        for (let turn = 0; ; turn += 1) {
            const isLast = turn === this.#options.repeats;
            let wait = 0.5 * 2 ** turn * (0.5 + Math.random() / 2);
            let answer, bytes;
            try {
                answer = await this.#ask(request, AbortSignal.timeout(timeout * 1000));
                bytes = new Uint8Array(await answer.arrayBuffer());
            } catch (fault) {
                if (!mayPass(fault) && fault.name !== 'TimeoutError') throw fault;
                if (isLast) throw new Lost(`no answer: ${fault.cause ?? fault}`, { cause: fault });
                wasSent ||= fault.cause?.code !== 'ECONNREFUSED';
                answer = undefined;
            }
            if (answer?.ok) return { answer, bytes };
            if (answer) {
                const refused = new Refused(answer, new TextDecoder().decode(bytes), wasSent);
                wait = Math.max(wait, refused.retryAfter ?? 0);
                const mayGoAgain = AGAIN.includes(refused.status) || refused.code === 'signature_repeated';
                if (isLast || !mayGoAgain || wait > this.#options.patience) throw refused;
                wasSent ||= refused.code === 'outcome_unknown' || [502, 504].includes(refused.status);
            }
            await sleep(wait * 1000);
        }
    }

    async #ask({ method, path, headers, content, signs }, signal) {
        const own = { 'accept-language': this.#options.language, ...headers, ...await this.#credentials(method, path, content, signs) };
        if (this.#options.deviceToken) own['x-device-token'] = this.#options.deviceToken;
        const send = this.#options.fetch ?? fetch;
        return send(this.#base + path, { method, headers: own, body: content, signal, redirect: 'manual', credentials: 'omit', cache: 'no-store' });
    }

    /** The headers that say who asks. A signature is good once, so each sending has its own. */
    async #credentials(method, path, content, signs) {
        const { partner } = this.#options;
        if (!signs || !partner) return this.token ? { token: this.token } : {};
        const headers = { 'client-id': partner.clientId };
        let head = '';
        if (signs === 'request' || partner.strict) {
            headers['x-timestamp'] = String(Math.floor(Date.now() / 1000));
            headers['x-nonce'] = hex(crypto.getRandomValues(new Uint8Array(16)));
            head = `${headers['x-timestamp']}.${headers['x-nonce']}.${signs === 'request' ? `${method} ${path}.` : ''}`;
        }
        const key = await keyOf(utf8.encode(partner.secret), 'sign');
        const signed = joined(utf8.encode(head), content ?? new Uint8Array());
        return { ...headers, token: hex(await crypto.subtle.sign('HMAC', key, signed)) };
    }
}

export async function verify(body, headers, ...secrets) {
    const isSecret = secret => /^(whsec_)?[A-Za-z0-9+/]{22,}={0,2}$/.test(secret);
    if (!secrets.length || !secrets.every(isSecret)) throw new TypeError('give the secret of the webhook: it begins with whsec_');
    const of = name => String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '');
    const [id, at, signatures] = ['id', 'timestamp', 'signature'].map(name => of(`webhook-${name}`));
    if (!id || !/^\d+$/.test(at) || !signatures) throw new Forged('the headers of a webhook are missing or no numbers');
    const age = Date.now() / 1000 - Number(at);
    if (Math.abs(age) > TOLERANCE_SECONDS) throw new Forged(`sent ${age.toFixed()} seconds ago`);
    const bytes = typeof body === 'string' ? utf8.encode(body) : body;
    const signed = joined(utf8.encode(`${id}.${at}.`), bytes);
    const decoded = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    for (const secret of secrets) {
        const key = await keyOf(decoded(secret.replace(/^whsec_/, '')), 'verify');
        for (const signature of signatures.split(' ').filter(one => one.startsWith('v1,'))) {
            let given;
            try { given = decoded(signature.slice(3)); } catch { continue; }
            // The platform compares in constant time.
            if (await crypto.subtle.verify('HMAC', key, given, signed)) return JSON.parse(new TextDecoder().decode(bytes));
        }
    }
    throw new Forged('no signature is of these secrets');
}
