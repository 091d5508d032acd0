import type { Booking, HistoryEvent, Operations, RefusalCode, ReportRequest } from './operations.js';

export type * from './operations.js';

/** The account of a partner. A strict one signs the time with every request. Not for browsers: the secret is yours alone. */
export interface Partner {
    clientId: string;
    secret: string;
    strict?: boolean;
}

export interface Options {
    /** A member's, a clerk's or a booking token's. */
    token?: string;
    partner?: Partner;
    /** Of messages: `en`, `de`, `fr` or `es`. */
    language?: string;
    /** The token of an earlier sign-in on this device. */
    deviceToken?: string;
    /** How often a request without an answer is sent again: 4. */
    repeats?: number;
    /** The longest wait before a repeat, in seconds: 30. */
    patience?: number;
    /** For how long an answer is waited for, from the sending to its last byte, in seconds: 30. */
    timeout?: number;
    /** Instead of the platform's. */
    fetch?: typeof fetch;
}

/** What happened. `seq` is the number to go on after. A `reset` says that events are missing, because they are older than 30 days or
 * because the site was put back to an earlier moment: read what you need anew, and go on. */
export interface Event {
    seq: number;
    id: string;
    type: string;
    at: number;
    data: Record<string, any>;
}

export interface Listening {
    /** Such as `booking.cancelled` or `booking.*`. */
    types?: string | string[];
    /** A `seq` that you kept; without it from now on. */
    after?: number;
    signal?: AbortSignal;
}

/** The site's answer is a refusal. Decide by `code`, show `message` to people; `errors` names each bad field. */
export class Refused extends Error {
    status: number;
    code: RefusalCode;
    errors: { field: string; message: string }[];
    requestId: string;
    /** In seconds. */
    retryAfter: number | null;
    headers: Headers;
    /** An earlier sending of this request had no answer: it may have been done. */
    repeated: boolean;
}

/** No answer came, after all repeats: the request may have been done. */
export class Lost extends Error {}

/** A webhook that the site did not sign, or not lately. */
export class Forged extends Error {}

export interface Client extends Operations {}

/** A site at an address such as `https://tunneldesk.example.com`, with a method for each operation. A request without an answer, and one
 * for which the site has no time, is sent again: it is the same request to the site, by its `Idempotency-Key` where it is a `POST`. */
export class Client {
    constructor(address: string, options?: Options);
    token: string;
    /** The rows of the history report after a `seq`, oldest first, all pages. For a clerk, an admin or a sync account, by its `token`;
     * throws a `TypeError` without one. */
    history(after?: number, choice?: ReportRequest): AsyncGenerator<HistoryEvent, void>;
    /** The rows of the bookings report, newest first, all pages, each booking once. For a clerk, an admin or a sync account, by its `token`;
     * throws a `TypeError` without one. A partner reads its own by `listOwnBookings`. */
    bookings(choice?: ReportRequest): AsyncGenerator<Booking, void>;
    /** Events as they happen, for ever or until the signal: each once, in order, also over lost connections. */
    events(listening?: Listening): AsyncGenerator<Event, void>;
    /** The events after a `seq`, and the `seq` to read on after: immediately where there are some, else after `wait` seconds at most. */
    readEvents(query?: { types?: string | string[]; after?: number; wait?: number; limit?: number }): Promise<{ events: Event[]; seq: number }>;
    /** An address for one `EventSource`, for 60 seconds, by a ticket. After a close take a new one. */
    eventsAddress(listening?: Listening): Promise<string>;
}

/** The event of a webhook. Give the body as it came, and during a rotation both secrets. An event may come again: know it by its `id`.
 * Rejects with `Forged`. */
export function verify(
    body: string | Uint8Array,
    headers: Headers | Record<string, string | string[] | undefined>,
    ...secrets: string[]
): Promise<Omit<Event, 'seq'>>;
