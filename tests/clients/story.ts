// A partner's first booking and what becomes of it, told once for all clients.
import { cancelAtDesk, codeFor, demo, equal } from './support';

/** What the story asks of a client, in the words of the description. */
export interface Client {
  signUp(body: { username: string; real_name: string; email: string; password: string; terms: true }): Promise<number>;
  confirm(token: string): Promise<boolean>;
  signIn(username: string, password: string): Promise<string>;
  pin(session: string): Promise<string>;
  book(body: Booking): Promise<Booked>;
  username(token: string): Promise<string>;
  ownBooking(registration: number): Promise<string | null>;
  reportedEnding(registration: number): Promise<string | null | undefined>;
  eventsOf(booking: number): Promise<string[]>;
  flew(session: string, minutes: string): Promise<boolean>;
  logbook(session: string, member: number): Promise<string[]>;
}

export interface Booking {
  member_id: number;
  member_pin: string;
  flight_date: number;
  minutes_booked: number;
  tunnel_id: number;
  registration_id: number;
}

export interface Booked {
  status: boolean;
  token: string;
  booking: number | undefined;
}

export const tell = async (name: string, client: Client): Promise<void> => {
  const now = Math.floor(Date.now() / 1000), number = now % 1_000_000_000;
  const username = `${name}-${number}`, email = `${username}@example.org`, password = 'violet-anvil-harbour-93';
  const member = await client.signUp({ username, real_name: 'Jane Doe', email, password, terms: true });
  equal('the address is confirmed', await client.confirm(codeFor(email)), true);
  const session = await client.signIn(username, password);
  const booking = {
    member_id: member, member_pin: await client.pin(session), flight_date: now + 86_400, minutes_booked: 15,
    tunnel_id: demo.tunnel_id, registration_id: number,
  };
  const booked = await client.book(booking);
  equal('it is booked', [booked.status, booked.token.length > 20], [true, true]);
  equal('the token reads the member', await client.username(booked.token), username);
  equal('the booking stands', await client.ownBooking(number), null);
  await cancelAtDesk(booked.booking ?? 0);
  const again = await client.book(booking);
  equal('a repeat of a cancelled booking is refused', [again.status, again.token], [false, '']);
  equal('the partner learns of it', await client.ownBooking(number), 'cancelled');
  equal('so does the report', await client.reportedEnding(number), 'cancelled');
  equal('and the history', await client.eventsOf(booked.booking ?? 0), ['booking.recorded', 'booking.cancelled']);
  equal('flight time is entered', await client.flew(session, '12'), true);
  equal('it is in the logbook', await client.logbook(session, member), ['12']);
  console.log(`${name}: signed up, booked, cancelled at the desk, told, and logged`);
};
