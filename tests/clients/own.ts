// A booking, its cancellation seen live, and the report, with the package of packaging/clients/typescript over a network that loses
// every other answer; and a webhook that the library of Standard Webhooks signed.
import assert from 'node:assert/strict';
import { execFile as execute, execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { Client, Forged, Lost, Refused, verify, type Event } from 'tunneldesk';

const execFile = promisify(execute);
const { CLIENT_CUT: cut = '', CLIENT_SITE: site = '', CLIENT_DATA: data = '', CLIENT_PROGRAM: program = '' } = process.env;
const demo = JSON.parse(readFileSync(`${data}/demo.json`, 'utf8'));
// Of its own: the other client, which runs at the same time, hears nothing of these bookings, and takes none of the places for streams.
const own = JSON.parse(execFileSync(program, ['partner', 'add', 'TypeScript', '--json', '--data', data], { encoding: 'utf8' }));

async function webhooks(): Promise<void> {
    const [secret, other] = ['a', 'b'].map(letter => `whsec_${btoa(letter.repeat(24))}`) as [string, string];
    const body = '{"id": "5d41-7", "type": "booking.cancelled", "at": 1780000000, "data": {"booking_id": 88}}';
    const now = new Date();
    const signed = (at: Date) => ({
        'webhook-id': '5d41-7', 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': `v1,AAAA ${new Webhook(secret).sign('5d41-7', at, body)}`,
    });
    assert.equal((await verify(body, new Headers(signed(now)), other, secret)).data.booking_id, 88);
    const old = new Date(now.getTime() - 301_000);
    for (const [changed, signer, at] of [[`${body} `, secret, now], [body, other, now], [body, secret, old]] as const) {
        await assert.rejects(verify(changed, signed(at), signer), Forged);
    }
}

/** The lines of /docs, typed as they stand below the first, while the booking is cancelled. */
async function sample(partner: Client, ...[number, member_id, pin]: [number, number, string]): Promise<void> {
    const page = await (await fetch(`${site}/docs`)).text();
    const shown = page.match(/id="client-typescript">(.*?)<\/pre>/s)?.[1] ?? '';
    const text = shown.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
    const given = JSON.stringify([own.client_id, own.secret, member_id, pin, number]);
    const lines = text.replace(/= \[.*?\];/, `= ${given};`).replace(/new Client\('[^']*'/, `new Client('${site}'`);
    assert(text.split('\n').length <= 10, text);
    writeFileSync('sample.mjs', lines);
    const told = execFile('node', ['sample.mjs']);
    // As soon as the sample has booked, or never: then it says why.
    const cancels = setInterval(() => partner.cancelOwnBooking(number).then(() => clearInterval(cancels), () => {}), 300);
    void told.finally(() => clearInterval(cancels)).catch(() => {});
    const kinds = (await told).stdout.split('\n').filter(line => line.endsWith(` ${number}`)).map(line => line.split(' ')[1]);
    assert.deepEqual(kinds, ['booking.recorded', 'booking.cancelled'], 'the sample hears of its booking');
}

/** The receiver of /docs, typed as it stands, takes a request that is signed, once, and no other. */
async function sampleWebhooks(): Promise<void> {
    const page = await (await fetch(`${site}/docs`)).text();
    const shown = page.match(/id="webhook-typescript">(.*?)<\/pre>/s)?.[1] ?? '';
    const text = shown.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
    assert(text.split('\n').length <= 11, text);
    const secret = `whsec_${btoa('a'.repeat(24))}`;
    const port = 20_000 + process.pid % 10_000;
    writeFileSync('receiver.mjs', text.replace('whsec_…', secret).replace('9000', String(port)));
    const receiver = spawn('node', ['receiver.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    receiver.stdout.on('data', part => { told += part; });
    const [body, now] = ['{"id": "5d41-7", "type": "booking.cancelled", "at": 1780000000, "data": {}}', new Date()];
    const headers = {
        'webhook-id': '5d41-7', 'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('5d41-7', now, body),
    };
    const send = async (sent: string): Promise<number> => {
        for (let tries = 0; ; tries++) {
            try {
                return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: sent })).status;
            } catch (fault) {
                if (tries > 100) throw fault;
                await new Promise(resolve => setTimeout(resolve, 100));
            }
        }
    };
    assert.deepEqual([await send(body), await send(body), await send(`${body} `)], [204, 204, 401]);
    receiver.kill();
    assert.equal(told.split('booking.cancelled').length, 2, told);
}

/** An answer that comes a byte a second, in its head or its body, is waited for no longer than one that does not come. */
async function dripping(): Promise<void> {
    const head = 'HTTP/1.1 200 OK\r\n';
    for (const atOnce of [`${head}x-slow: `, `${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n`]) {
        const server = createServer(client => {
            client.on('error', () => {});
            client.write(atOnce);
            const drop = setInterval(() => client.write('1'), 1000);
            client.on('close', () => clearInterval(drop));
        });
        await new Promise<void>(done => { server.listen(0, '127.0.0.1', done); });
        const slow = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { token: 'token', timeout: 3, repeats: 0 });
        const began = performance.now();
        await assert.rejects(slow.getProfile(), Lost);
        const waited = performance.now() - began;
        assert(waited > 2900 && waited < 5000, `an answer that drips was waited for for ${waited} of 3000 ms`);
        server.close();
    }
}

async function tell(): Promise<void> {
    const number = Date.now() % 1_000_000_000;
    const [username, password] = [`typescript-${number}`, 'violet-anvil-harbour-93'];
    const member = new Client(cut);
    const email = `${username}@example.org`;
    const { member_id } = await member.signup({ username, real_name: 'Jane Doe', email, password, terms: true });
    execFileSync(program, ['member', 'confirm', username, '--data', data]);
    await assert.rejects(member.getProfile(), (fault: unknown) => fault instanceof Refused && fault.code === 'not_signed_in');
    member.token = (await member.login({ username, password })).token;
    const partner = new Client(cut, { partner: { clientId: own.client_id, secret: own.secret } });
    const { seq } = await partner.readEvents({ wait: 0 });
    const heard: string[] = [];
    const stop = new AbortController();
    const listening = (async () => {
        for await (const event of partner.events({ types: ['booking.*'], after: seq, signal: stop.signal })) {
            if (event.type !== 'reset' && event.data.registration_id !== number) continue;
            heard.push(event.type);
            if (event.type === 'booking.cancelled') return;
        }
    })();
    const booked = await partner.generateToken({
        member_id, member_pin: (await member.bookingPin()).pin, registration_id: number,
        flight_date: Math.floor(Date.now() / 1000) + 86_400, minutes_booked: 15, tunnel_id: demo.tunnel_id,
    });
    assert(booked.status && booked.token && booked.booking, booked.message);
    const { booking_id } = booked.booking;
    await assert.rejects(partner.bookings().next(), TypeError, 'a report for a partner');
    assert.equal((await partner.cancelOwnBooking(number)).ended, 'cancelled');
    const late = setTimeout(() => stop.abort(), 90_000);
    await listening;
    clearTimeout(late);
    assert.deepEqual(heard, ['booking.recorded', 'booking.cancelled'], 'each event came once');
    const reset = await partner.readEvents({ after: seq + 1_000_000 });
    assert.deepEqual(reset.events.map((event: Event) => event.type), ['reset']);
    const staff = new Client(cut, { token: demo.sync_token });
    const history = [];
    for await (const row of staff.history()) if (row.booking_id === booking_id && row.event.startsWith('booking.')) history.push(row.event);
    assert.deepEqual(history, ['booking.recorded', 'booking.cancelled']);
    for await (const row of staff.bookings()) if (row.booking_id === booking_id) assert.equal(row.ended, 'cancelled');
    for (const time of [7, 8, 9]) await member.createTime({ entry_date: Math.floor(Date.now() / 1000) - 60 * time, time });
    await assert.rejects(member.createTime({ entry_date: 'yesterday', time: 0 }), (fault: unknown) =>
        fault instanceof Refused && fault.errors.map(one => one.field).sort().join() === 'entry_date,time');
    assert.deepEqual((await member.listTime(member_id)).map(row => Number(row.time)), [7, 8, 9], 'a repeat adds nothing');
    // A ticket is for `EventSource`, which sends no headers.
    const direct = new Client(site, { token: member.token });
    const answer = await fetch(await direct.eventsAddress({ after: 0 }), { headers: { accept: 'text/event-stream' } });
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
    await sample(partner, number + 1, member_id, (await member.bookingPin()).pin);
    console.log('typescript: booked, cancelled, heard, reported');
}

await webhooks();
await sampleWebhooks();
await dripping();
await tell();
