// What no generated client makes: the signatures of a partner, the reading of a mail that waits at the desk, and the desk itself.
import { execFileSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

interface Demo {
  sync_token: string;
  tunnel_id: number;
  partner: { client_id: string; secret: string };
  members: { username: string; password: string }[];
}

export const site = read('CLIENT_SITE');
export const api = `${site}/api`;
export const demo = JSON.parse(readFileSync(`${read('CLIENT_DATA')}/demo.json`, 'utf8')) as Demo;

const hmac = (text: string): string => createHmac('sha256', demo.partner.secret).update(text).digest('hex');

/** The headers of a body that is signed. */
export const signed = (body: unknown): { 'client-id': string; token: string } =>
  ({ 'client-id': demo.partner.client_id, token: hmac(JSON.stringify(body)) });

/** The headers of a request without a body that is signed as a whole. */
export const signedRequest = (method: string, path: string) => {
  const timestamp = String(Math.floor(Date.now() / 1000)), nonce = randomUUID();
  const token = hmac(`${timestamp}.${nonce}.${method} /api${path}.`);
  return { 'client-id': demo.partner.client_id, token, 'x-timestamp': timestamp, 'x-nonce': nonce };
};

const desk = (...args: string[]): unknown =>
  JSON.parse(execFileSync(read('CLIENT_PROGRAM'), [...args, '--data', read('CLIENT_DATA'), '--json'], { encoding: 'utf8' }));

/** The code in the mail that waits for this address, as the desk reads it to a member. */
export const codeFor = (address: string): string => {
  const { messages } = desk('outbox', 'list') as { messages: { message_id: number; recipient: string }[] };
  const message = messages.find(one => one.recipient === address);
  if (message === undefined) throw new Error(`no mail to ${address}`);
  const { text } = desk('outbox', 'show', String(message.message_id)) as { text: string };
  const code = /token=([A-Za-z0-9_-]+)/.exec(text)?.[1];
  if (code === undefined) throw new Error(text);
  return code;
};

/** Cancels a booking on the pages of the desk. */
export const cancelAtDesk = async (booking: number): Promise<void> => {
  const post = (path: string, fields: Record<string, string>, cookie = '') => fetch(`${site}${path}`, {
    method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers: { origin: site, cookie },
  });
  const { username, password } = demo.members.find(one => one.username === 'desk') ?? { username: '', password: '' };
  const cookie = (await post('/desk/sign-in', { username, password })).headers.getSetCookie().map(one => one.split(';')[0]).join('; ');
  const page = await (await fetch(`${site}/desk/bookings/${booking}`, { headers: { cookie } })).text();
  const seen = /name="seen" value="([^"]*)"/.exec(page)?.[1] ?? '';
  const done = await post(`/desk/bookings/${booking}/cancel`, { seen }, cookie);
  if (done.status !== 303) throw new Error(`the desk answers ${done.status}: ${await done.text()}`);
};

export const equal = (what: string, found: unknown, wanted: unknown): void => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: ${JSON.stringify(found)}, and not ${JSON.stringify(wanted)}`);
  }
};
