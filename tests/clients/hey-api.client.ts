import { client } from './made/client.gen';
import * as sdk from './made/sdk.gen';
import { zBooking, zTimeEntry } from './made/zod.gen';
import { type Booked, type Booking, type Client, tell } from './story';
import { api, demo, signed, signedRequest } from './support';

client.setConfig({ baseUrl: api, throwOnError: true });
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, throwOnError: true as const });
const staff = { headers: { token: demo.sync_token }, throwOnError: true as const };

const ours: Client = {
  signUp: async body => (await sdk.signup({ body, throwOnError: true })).data.member_id,
  confirm: async token => (await sdk.verifyEmail({ body: { token }, throwOnError: true })).data.status,
  signIn: async (username, password) => (await sdk.login({ body: { username, password }, throwOnError: true })).data.token,
  pin: async session => (await sdk.bookingPin(bearer(session))).data.pin,
  book: async (body: Booking): Promise<Booked> => {
    const { data } = await sdk.generateToken({ body, headers: signed(body), throwOnError: true });
    return { status: data.status, token: data.token, booking: data.booking?.booking_id };
  },
  username: async token => (await sdk.getProfile(bearer(token))).data.username,
  ownBooking: async registration => {
    const headers = signedRequest('GET', `/external/partner-metrics/bookings/${registration}`);
    const path = { registration_id: String(registration) };
    return (await sdk.getOwnBooking({ path, headers, throwOnError: true })).data.ended;
  },
  reportedEnding: async registration => {
    const { data } = await sdk.reportBookings({ body: { limit: 50 }, ...staff });
    return data.data.map(row => zBooking.parse(row)).find(row => Number(row.registration_id) === registration)?.ended;
  },
  eventsOf: async booking => {
    const { data } = await sdk.reportHistory({ body: { limit: 50 }, ...staff });
    return data.data.filter(row => row.booking_id === booking && row.event.startsWith('booking.')).map(row => row.event).reverse();
  },
  flew: async (session, time) => {
    const body = { entry_date: Math.floor(Date.now() / 1000) - 3600, time };
    return (await sdk.createTime({ body, ...bearer(session) })).data.status;
  },
  logbook: async (session, member) => {
    const { data } = await sdk.listTime({ path: { id: String(member) }, ...bearer(session) });
    return data.map(row => String(zTimeEntry.parse(row).time));
  },
};

await tell('hey-api', ours);
