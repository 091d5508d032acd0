import * as made from './made/client';
import { ListTimeResponse, LoginResponse, ReportBookingsResponse } from './made/schemas.zod';
import { type Booked, type Booking, type Client, tell } from './story';
import { demo, signed, signedRequest } from './support';

const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });
const staff: RequestInit = { headers: { token: demo.sync_token } };

/** The answer of a request that went well. */
const good = <T extends { status: number }>(answer: T): Extract<T, { status: 200 | 201 }> => {
  if (answer.status !== 200 && answer.status !== 201) throw new Error(JSON.stringify(answer));
  return answer as Extract<T, { status: 200 | 201 }>;
};

const ours: Client = {
  signUp: async body => good(await made.signup(body)).data.member_id,
  confirm: async token => good(await made.verifyEmail({ token })).data.status,
  signIn: async (username, password) => LoginResponse.parse(good(await made.login({ username, password })).data).token,
  pin: async session => good(await made.bookingPin(bearer(session))).data.pin,
  book: async (body: Booking): Promise<Booked> => {
    const { data } = good(await made.generateToken(body, { headers: signed(body) }));
    return { status: data.status, token: data.token, booking: data.booking?.booking_id };
  },
  username: async token => good(await made.getProfile(bearer(token))).data.username,
  ownBooking: async registration => {
    const headers = signedRequest('GET', `/external/partner-metrics/bookings/${registration}`);
    return good(await made.getOwnBooking(String(registration), { headers })).data.ended;
  },
  reportedEnding: async registration => {
    const { data } = ReportBookingsResponse.parse(good(await made.reportBookings({ limit: 50 }, staff)).data);
    return data.find(row => row.registration_id === registration)?.ended;
  },
  eventsOf: async booking => {
    const { data } = good(await made.reportHistory({ limit: 50 }, staff)).data;
    return data.filter(row => row.booking_id === booking && row.event.startsWith('booking.')).map(row => row.event).reverse();
  },
  flew: async (session, time) => {
    const body = { entry_date: Math.floor(Date.now() / 1000) - 3600, time };
    return good(await made.createTime(body, bearer(session))).data.status;
  },
  logbook: async (session, member) => {
    const rows = ListTimeResponse.parse(good(await made.listTime(String(member), undefined, bearer(session))).data);
    return rows.map(row => String(row.time));
  },
};

await tell('orval', ours);
