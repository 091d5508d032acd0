import createClient from 'openapi-fetch';
import type { paths } from './made/schema';
import { type Booked, type Booking, type Client, tell } from './story';
import { api, demo, signed, signedRequest } from './support';

const client = createClient<paths>({ baseUrl: api });
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const staff = { headers: { token: demo.sync_token } };

/** The value of an answer; whatever else came is an error. */
const got = <T>({ data, error }: { data?: T; error?: unknown }): T => {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
};

const ours: Client = {
  signUp: async body => got(await client.POST('/auth/signup', { body })).member_id,
  confirm: async token => got(await client.POST('/auth/verify-email', { body: { token } })).status,
  signIn: async (username, password) => got(await client.POST('/auth/login', { body: { username, password } })).token,
  pin: async session => got(await client.POST('/account/profile/booking-pin', bearer(session))).pin,
  book: async (body: Booking): Promise<Booked> => {
    const made = got(await client.POST('/external/partner-metrics/op/generate-token', { body, headers: signed(body) }));
    return { status: made.status, token: made.token, booking: made.booking?.booking_id };
  },
  username: async token => got(await client.GET('/account/profile/user', bearer(token))).username,
  ownBooking: async registration => {
    const header = signedRequest('GET', `/external/partner-metrics/bookings/${registration}`);
    const path = { registration_id: String(registration) };
    const { token } = header;
    return got(await client.GET('/external/partner-metrics/bookings/{registration_id}', { params: { path, header }, headers: { token } })).ended;
  },
  reportedEnding: async registration => {
    const { data } = got(await client.POST('/admin/reports/external/partner-metrics/bookings', { body: { limit: 50 }, ...staff }));
    return data.find(row => row.registration_id === registration)?.ended;
  },
  eventsOf: async booking => {
    const { data } = got(await client.POST('/admin/reports/external/partner-metrics/history', { body: { limit: 50 }, ...staff }));
    return data.filter(row => row.booking_id === booking && row.event.startsWith('booking.')).map(row => row.event).reverse();
  },
  flew: async (session, time) => {
    const body = { entry_date: Math.floor(Date.now() / 1000) - 3600, time };
    return got(await client.POST('/account/logbook/time/', { body, ...bearer(session) })).status;
  },
  logbook: async (session, member) => {
    const params = { path: { id: String(member) } };
    return got(await client.GET('/account/logbook/time/{id}', { params, ...bearer(session) })).map(row => String(row.time));
  },
};

await tell('openapi-typescript', ours);
