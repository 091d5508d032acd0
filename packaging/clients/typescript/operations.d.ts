// Made by packaging/clients/generate from the description of the API.

/** The codes of refusals that this version knows. A site may send others. */
export type RefusalCode =
    | "insecure"
    | "bad_json"
    | "bad_request"
    | "code_missing"
    | "not_signed_in"
    | "bad_signature"
    | "client_id_missing"
    | "signature_repeated"
    | "bad_callback"
    | "bad_timestamp"
    | "bad_nonce"
    | "not_allowed"
    | "address_not_allowed"
    | "reauthentication_needed"
    | "second_factor_required"
    | "not_found"
    | "unknown_path"
    | "method_not_allowed"
    | "too_slow"
    | "email_taken"
    | "username_taken"
    | "booking_of_another_member"
    | "entry_signed"
    | "skill_taken"
    | "entry_state"
    | "booking_state"
    | "waiver_missing"
    | "waiver_changed"
    | "entry_changed"
    | "email_not_confirmed"
    | "passkeys_need_https"
    | "passkeys_full"
    | "exists"
    | "logbook_full"
    | "second_factor_off"
    | "nothing_confirmed"
    | "events_gone"
    | "body_too_large"
    | "uri_too_long"
    | "unsupported_type"
    | "unsupported_encoding"
    | "unsupported_picture"
    | "unknown_host"
    | "invalid_fields"
    | "idempotency_key_reused"
    | "too_fast"
    | "passcode_too_many"
    | "headers_too_large"
    | "broken"
    | "overloaded"
    | "not_configured"
    | "clock_suspect"
    | "store_stopped"
    | "store_damaged"
    | "replaced"
    | "standby_away"
    | "disk_hangs"
    | "outcome_unknown"
    | "read_only"
    | "disk_full"
    | (string & {});

/** A booking. */
export interface Booking {
    /** When the member checked in. */
    arrived_at: number | null;
    /** The booking's number here. */
    booking_id: number;
    /** When the member should be there. */
    checkin_time: number | null;
    /** The partner who booked. */
    client_id: string;
    /** When it was first sent. */
    created_at: number;
    /** How the booking ended without a flight */
    ended: "cancelled" | "no_show" | (string & {}) | null;
    /** When it ended. */
    ended_at: number | null;
    /** The flight-time entry that the booking made */
    entry_id: number | null;
    /** When the flight is. */
    flight_date: number;
    /** The same as `booking_id`. */
    id: number;
    /** Who flies. */
    member_id: number;
    minutes_booked: number;
    /** The partner's number. */
    product_id: number | null;
    /** The moment of the purchase. */
    purchase_date: number | null;
    /** The partner's number. */
    purchase_id: number | null;
    /** The partner's number. */
    registration_id: number | null;
    tunnel_id: number;
    tunnel_name: string;
    /** When it was last changed. */
    updated_at: number;
}

export interface Pin {
    message: string;
    /** Six digits. */
    pin: string;
    status: boolean;
}

/** One booking, as the answer to a request about it. */
export interface OwnBooking {
    /** When the member checked in. */
    arrived_at: number | null;
    /** The booking's number here. */
    booking_id: number;
    /** When the member should be there. */
    checkin_time: number | null;
    /** The partner who booked. */
    client_id: string;
    /** When it was first sent. */
    created_at: number;
    /** How the booking ended without a flight */
    ended: "cancelled" | "no_show" | (string & {}) | null;
    /** When it ended. */
    ended_at: number | null;
    /** The flight-time entry that the booking made */
    entry_id: number | null;
    /** When the flight is. */
    flight_date: number;
    /** The same as `booking_id`. */
    id: number;
    /** Who flies. */
    member_id: number;
    message: string;
    minutes_booked: number;
    /** The partner's number. */
    product_id: number | null;
    /** The moment of the purchase. */
    purchase_date: number | null;
    /** The partner's number. */
    purchase_id: number | null;
    /** The partner's number. */
    registration_id: number | null;
    status: boolean;
    tunnel_id: number;
    tunnel_name: string;
    /** When it was last changed. */
    updated_at: number;
}

/** Which sections of the logbook to show, in the contract's types, the odd ones included. */
export interface CategoryOptions {
    afcOption: CategoryOptionsAfcOption;
    coachOption: CategoryOptionsCoachOption;
    coachSafetyOption: CategoryOptionsCoachSafetyOption;
    examinerOption: CategoryOptionsExaminerOption;
    flyerOption: CategoryOptionsFlyerOption;
    flyerSafetyOption: CategoryOptionsFlyerSafetyOption;
    instructorOption: CategoryOptionsInstructorOption;
    instructorSafetyOption: CategoryOptionsInstructorSafetyOption;
    logCurrency: CategoryOptionsLogCurrency;
    militaryOption: CategoryOptionsMilitaryOption;
    militarySafetyOption: CategoryOptionsMilitarySafetyOption;
    trainerOption: CategoryOptionsTrainerOption;
    trainerSafetyOption: CategoryOptionsTrainerSafetyOption;
}

export interface CategoryOptionsAfcOption {
    disabled: string;
    show: boolean;
    showTab: string;
    skillCategory: number;
}

export interface CategoryOptionsCoachOption {
    disabled: string;
    show: boolean;
    showTab: boolean;
    skillCategory: number;
}

export interface CategoryOptionsCoachSafetyOption {
    disabled: string;
    show: boolean;
    showTab: number;
}

export interface CategoryOptionsExaminerOption {
    disabled: string;
    disabledTab: boolean;
    show: boolean;
    showTab: boolean;
    skillCategory: number;
}

export interface CategoryOptionsFlyerOption {
    disabled: string;
    show: boolean;
    showTab: boolean;
    skillCategory: number;
}

export interface CategoryOptionsFlyerSafetyOption {
    disabled: string;
    show: boolean;
    showTab: boolean;
}

export interface CategoryOptionsInstructorOption {
    disabled: string;
    disabledTab: boolean;
    show: boolean;
    showTab: boolean;
    skillCategory: number;
}

export interface CategoryOptionsInstructorSafetyOption {
    disabled: string;
    show: boolean;
    showTab: boolean;
}

export interface CategoryOptionsLogCurrency {
    disabled: string;
    show: boolean;
    showTab: boolean;
}

export interface CategoryOptionsMilitaryOption {
    disabled: string;
    show: boolean;
    showTab: boolean;
    skillCategory: number;
}

export interface CategoryOptionsMilitarySafetyOption {
    disabled: string;
    show: boolean;
    showTab: number;
}

export interface CategoryOptionsTrainerOption {
    disabled: string;
    disabledTab: boolean;
    show: boolean;
    showTab: boolean;
    skillCategory: number;
}

export interface CategoryOptionsTrainerSafetyOption {
    disabled: string;
    show: boolean;
    showTab: boolean;
}

export interface PasswordChange {
    current_password: string | number;
    /** The new password. */
    password: string | number;
    /** The new password again. */
    password_confirm: string | number;
}

/** Nothing to say but that it was done. */
export interface Done {
    /** What happened, in the caller's language. */
    message: string;
    /** Whether it was done. */
    status: boolean;
}

export interface UsernameCheck {
    username: string | number;
}

export interface Availability {
    available: boolean;
    /** Why not, and which names are allowed */
    message: string;
    status: boolean;
}

export interface SafetyEntry {
    /** When it was signed. */
    approval_date: number | null;
    /** The member who entered it. */
    author_id: number;
    /** The programme. */
    cat_group: string;
    cat_name: string;
    comment: string;
    /** Why it was refused */
    comment_denial: string;
    comments_instructor: string;
    /** When it was entered. */
    created_at: number;
    /** When it was. */
    entry_date: number;
    entry_id: number;
    /** The same as `entry_id`. */
    id: number;
    in_force: boolean;
    /** The signer's number, as text */
    instructor: string;
    instructor_name: string;
    /** Empty for a record that has left the catalogue. */
    kind: "initial" | "recurrent" | (string & {});
    member_id: number;
    /** The record's number, as text. */
    skill: string;
    skill_name: string;
    /** `pending` waits for the signer */
    status: "pending" | "open" | "denied" | "not_current" | "suspended" | "cancelled" | (string & {});
    /** The tunnel's number, as text. */
    tunnel: string;
    tunnel_name: string;
    /** The first moment at which it no longer holds */
    valid_until: number | null;
}

export interface ContactMessage {
    country?: string | number | null | string;
    email: string;
    enquiry?: string | number | null | string;
    /** The sender */
    member_id?: number | string | null | string;
    message: string | number;
    name: string | number;
}

export interface CountRequestsAnswer {
    count: number;
}

export interface Country {
    /** ISO 3166-1 alpha-2. */
    code: string;
    /** ISO 3166-1 alpha-3 */
    code3: string;
    /** The calling code */
    dial_code: string;
    /** In the caller's language. */
    name: string;
}

/** A ticket for one stream. */
export interface EventTicket {
    /** Until when it may be used. */
    ends_at: number;
    /** How many seconds that is. */
    seconds: number;
    status: boolean;
    /** Goes into the query of `GET /events?ticket=…`, once. */
    ticket: string;
}

export interface TimeNew {
    comment?: string | number | null | string;
    /** The moment of the flight */
    entry_date: number | string;
    /** Ignored */
    status?: Record<string, unknown>;
    time: number | string;
    /** By default this site's. */
    tunnel?: number | string | null | string;
}

export interface Written {
    /** The entry. */
    entry_id: number;
    message: string;
    status: boolean;
}

export interface OpeningBalance {
    comment?: string | number | null | string;
    entry_date: number | string;
    /** The signer. */
    instructor: number | string;
    /** Numbers of skills */
    skills?: (string | number)[] | string | number | null | string;
    /** Minutes, up to 60,000, or `H:MM`. */
    time?: number | string | null | string;
    tunnel?: number | string | null | string;
}

export interface SkillWritten {
    /** The entry. */
    entry_id: number;
    /** Its state afterwards. */
    entry_status: "pending" | "open" | "denied" | "suspended" | "cancelled" | (string & {});
    message: string;
    status: boolean;
}

export interface PartnerUserNew {
    email: string;
}

/** One user record, as the answer to a request about it. */
export interface OnePartnerUser {
    /** When the record was made. */
    created_at: number;
    /** As the partner gave it. */
    email: string;
    /** The record's number. */
    id: number;
    /** On a site that asks for waivers, while you have a booking of this member that is still to come */
    may_check_in?: boolean;
    /** The member who has confirmed this address */
    member_id: number | null;
    message: string;
    status: boolean;
    /** When it was last changed. */
    updated_at: number;
}

export interface SkillNew {
    /** The client's echo */
    author_id?: string | number | null | string;
    /** The client's echo */
    cat_group?: string | number | null | string;
    /** The client's echo */
    cat_id?: string | number | null | string;
    /** The client's echo */
    cat_name?: string | number | null | string;
    comment?: string | number | null | string;
    comment_denial?: string | number | null | string;
    /** The signer's comment. */
    comments_instructor?: string | number | null | string;
    /** The moment of the flight */
    entry_date: number | string;
    /** The client's echo */
    entry_id?: string | number | null | string;
    /** Like `entry_id`. */
    id?: string | number | null | string;
    /** The requested signer */
    instructor?: number | string | null | string;
    /** The client's echo */
    instructor_name?: string | number | null | string;
    /** Ours */
    member_id?: number | string | null | string;
    /** The skill's number in the catalogue (`GET /public/skills`). */
    skill: string | number;
    /** The client's echo */
    skill_name?: string | number | null | string;
    /** Ignored */
    status?: Record<string, unknown>;
    /** Minutes in the air, 0 to 600, or `H:MM`. */
    time?: number | string | null | string;
    /** By default this site's. */
    tunnel?: number | string | null | string;
    /** The client's echo */
    tunnel_name?: string | number | null | string;
}

export interface Denial {
    comment_denial: string | number;
    /** The entry's `version` that the signer saw */
    version?: number | string | null | string;
}

export interface PartnerUserEdit {
    email: string;
    /** The record to change. */
    id: number | string;
}

export interface ProfileEdit {
    real_name: string | number;
    screen_name: string | number;
    /** The home tunnel. */
    tunnel: number | string;
    username: string | number;
    verify_password: string | number;
}

export interface SkillEdit {
    /** The client's echo */
    author_id?: string | number | null | string;
    /** The client's echo */
    cat_group?: string | number | null | string;
    /** The client's echo */
    cat_id?: string | number | null | string;
    /** The client's echo */
    cat_name?: string | number | null | string;
    comment?: string | number | null | string;
    comment_denial?: string | number | null | string;
    /** The signer's comment. */
    comments_instructor?: string | number | null | string;
    entry_date?: number | string | null | string | boolean | string;
    /** The number in the path, or absent. */
    entry_id?: number | string | null | string;
    /** The number in the path, or absent. */
    id?: number | string | null | string;
    /** The requested signer. */
    instructor?: number | string | null | string;
    /** The client's echo */
    instructor_name?: string | number | null | string;
    /** The skill's number in the catalogue. */
    skill?: string | number | null | string;
    /** The client's echo */
    skill_name?: string | number | null | string;
    /** Ours */
    status?: "pending" | "open" | "denied" | "suspended" | "cancelled" | "not_current" | (string & {}) | null | string;
    /** Minutes in the air, 0 to 600, or `H:MM`. */
    time?: number | string | null | string;
    tunnel?: number | string | null | string;
    /** The client's echo */
    tunnel_name?: string | number | null | string;
    /** Ours, by a signer */
    version?: number | string | null | string;
}

export interface TimeEdit {
    comment?: string | number | null | string;
    entry_date?: number | string | null | string | boolean | string;
    /** The number in the path, or absent. */
    entry_id?: number | string | null | string;
    /** The number in the path, or absent. */
    id?: number | string | null | string;
    time?: number | string | null | string;
    tunnel?: number | string | null | string;
}

export interface OpenSkill {
    /** The programme. */
    cat_group: string;
    /** The level, as text. */
    cat_id: string;
    cat_name: string;
    /** Whether the level is held only with it. */
    required: boolean;
    /** The value for `skill` of an entry. */
    skill: string;
    skill_name: string;
    /** `Static`, `Dynamic` or `Formation` */
    track: string;
}

export interface FlyerLevels {
    /** `No` or `Level N`, the highest held of the track. */
    dynamic: string;
    /** Whether a skill of it waits for its signer. */
    dynamicPending: boolean;
    /** `No` or `Level N`, the highest held of the track. */
    formation: string;
    /** Whether a skill of it waits for its signer. */
    formationPending: boolean;
    level1: "No" | "Yes" | (string & {});
    /** Whether a skill of it waits for its signer. */
    level1Pending: boolean;
    /** `No` or `Level N`, the highest held of the track. */
    static: string;
    /** Whether a skill of it waits for its signer. */
    staticPending: boolean;
}

/** A request with any field of a booking is a booking */
export interface TokenRequest {
    /** The moment by which the member should arrive. */
    checkin_time?: number | string | null | string | boolean | string;
    /** The moment of the flight. */
    flight_date?: number | string | null | string | boolean | string;
    /** The member who books. */
    member_id: number | string;
    /** The member's booking PIN, six digits. */
    member_pin: string | number;
    /** Required as soon as any field of a booking is sent. */
    minutes_booked?: number | string | null | string;
    /** Your number of the product. */
    product_id?: number | string | null | string;
    /** The moment of the purchase. */
    purchase_date?: number | string | null | string | boolean | string;
    /** Your number of the purchase. */
    purchase_id?: number | string | null | string;
    /** Your number of the registration */
    registration_id?: number | string | null | string;
    /** A tunnel that this site knows. */
    tunnel_id?: number | string | null | string;
}

export interface Token {
    /** The booking that the request sent, as it stands */
    booking?: TokenBooking;
    /** On a site that asks for waivers, with a booking */
    may_check_in?: boolean;
    /** What became of the booking, or why there is no token */
    message: string;
    /** Whether the booking stands as it was sent or moved */
    status: boolean;
    /** The booking token */
    token: string;
}

/** The booking that the request sent, as it stands */
export interface TokenBooking {
    /** When the member checked in. */
    arrived_at: number | null;
    /** The booking's number here. */
    booking_id: number;
    /** How the booking ended without a flight */
    ended: "cancelled" | "no_show" | (string & {}) | null;
    /** When it ended. */
    ended_at: number | null;
    /** When the flight is. */
    flight_date: number;
    minutes_booked: number;
    /** Your number. */
    registration_id: number | null;
    tunnel_id: number;
}

export interface CertificateRequest {
    cat_id: number | string;
    entry_date: number | string;
    /** The caller */
    member_id: number | string;
    screen_name: string | number;
    /** As in the row of the list. */
    type: string | number;
}

export interface Profile {
    /** On a site that asks for waivers, and not by a booking token */
    brief?: "missing" | "pending" | "signed" | (string & {});
    /** ISO 3166-1 alpha-2 */
    country: string;
    /** As it was given at sign-up. */
    country_code: string;
    /** 1 */
    currency_coach: number;
    /** 1 */
    currency_examiner: number;
    /** 1 */
    currency_flyer: number;
    /** 1 */
    currency_instructor: number;
    /** 1 */
    currency_military: number;
    /** When the currency lapses or lapsed */
    currency_renewal_date_coach: number | null;
    /** When the currency lapses or lapsed */
    currency_renewal_date_examiner: number | null;
    /** When the currency lapses or lapsed */
    currency_renewal_date_flyer: number | null;
    /** When the currency lapses or lapsed */
    currency_renewal_date_instructor: number | null;
    /** When the currency lapses or lapsed */
    currency_renewal_date_military: number | null;
    /** When the currency lapses or lapsed */
    currency_renewal_date_trainer: number | null;
    /** 1 */
    currency_trainer: number;
    /** Midnight of the day of birth. */
    dob: number | null;
    /** Empty where a social network gave none. */
    email: string;
    email_verified: boolean;
    /** On a site that asks for waivers, and not by a booking token */
    guardian?: boolean;
    /** Member since. */
    join_date: number;
    /** The last flight that was flown. */
    last_flight: number | null;
    /** On a site that asks for waivers */
    may_check_in?: boolean;
    member_id: number;
    paymentData: ProfilePaymentData;
    /** As `+41441234567` */
    phone: string;
    phone_verified: boolean;
    real_name: string;
    /** What the account may do at this site. */
    role: "member" | "desk" | "admin" | "sync" | (string & {});
    /** The highest programme held, such as `Instructor`. */
    role_name: string;
    /** What others see. */
    screen_name: string;
    /** `H:MM`, without flights in the future. */
    total_flight_time: string;
    /** The home tunnel's number, as text. */
    tunnel: string;
    /** ISO 3166-1 alpha-2. */
    tunnel_country: string;
    tunnel_name: string;
    username: string;
    /** On a site that asks for waivers, and not by a booking token */
    waiver?: "in_force" | "unsigned" | "expired" | "old_version" | "guardian_missing" | "came_of_age" | "undecided" | "refused" | (string & {});
}

export interface ProfilePaymentData {
    /** Paid until. */
    nextDate: number | null;
    /** `active` while the membership is in force. */
    paymentStatus: "active" | "unpaid" | (string & {});
}

export interface OneTunnel {
    data: Tunnel;
    status: boolean;
}

/** A tunnel */
export interface Tunnel {
    city: string;
    /** ISO 3166-1 alpha-2. */
    country: string;
    /** In the caller's language. */
    country_name: string;
    name: string;
    phone: string;
    /** Whether it is the tunnel that answers. */
    this_site: boolean;
    time_zone: string;
    tunnel_id: number;
    website: string;
}

export interface Waiver {
    /** A blank line begins a new paragraph. */
    body: string;
    /** The member, then the children for whom the member acts. */
    flyers: WaiverFlyer[];
    /** In which the text is */
    language: string;
    /** Unix seconds. */
    published_at: number;
    /** Each answered by yes or no, in this order. */
    questions: string[];
    /** SHA-256, in hex, of title, body and questions in UTF-8, with one blank line between the three, questions one a line, and each line ended by a line feed. */
    text_hash: string;
    title: string;
    version: number;
}

export interface WaiverFlyer {
    /** Whether the account knows the day of birth */
    knows_dob: boolean;
    member_id: number;
    name: string;
    /** Of the member to this flyer. */
    relation: "self" | "parent" | "guardian" | "permission" | (string & {});
    /** Whether a signature is missing */
    to_sign: boolean;
    /** How it stands. */
    waiver: "in_force" | "unsigned" | "expired" | "old_version" | "guardian_missing" | "came_of_age" | "undecided" | "refused" | (string & {});
}

export interface KioskCode {
    /** Twenty digits. */
    code: string;
    /** When it ends. */
    ends_at: number;
    message: string;
    /** The same as a QR code */
    qr: string;
    status: boolean;
}

/** A level that the member holds. */
export interface Certificate {
    /** The programme. */
    cat_group: string;
    /** The level. */
    cat_id: number;
    /** Held since then. */
    entry_date: number;
    member_id: number;
    /** The title of the certificate. */
    name: string;
    /** The member's. */
    screen_name: string;
    /** By whom */
    signer_name: string;
    /** `Static`, `Dynamic` or `Formation` */
    track: string;
    /** Where the last skill was signed. */
    tunnel_name: string;
    /** Programme and track */
    type: string;
}

export interface EntryEvent {
    /** When. */
    at: number;
    /** The state before */
    from: string | null;
    /** The member who caused the event. */
    member_id: number;
    /** Their name. */
    name: string;
    /** Counts up. */
    step: number;
    /** The state after */
    to: string;
}

export interface Signer {
    /** The same as `member_id`. */
    id: number;
    /** The value for `instructor` of an entry. */
    instructor: string;
    instructor_name: string;
    member_id: number;
    /** The highest programme held. */
    role_name: string;
}

export interface LogbookTunnel {
    /** Not known to this site. */
    address: string;
    /** The same as `city` */
    address_city: string;
    city: string;
    /** ISO 3166-1 alpha-2. */
    country: string;
    /** The same as `tunnel_id` */
    entry_id: number;
    /** The same as `tunnel_id`. */
    id: number;
    /** Not known to this site. */
    manufacturer: string;
    name: string;
    /** Not known to this site. */
    size: string;
    status: string;
    /** Whether it is this site's own. */
    this: boolean;
    /** The same as `name` */
    title: string;
    tunnel_id: number;
}

export interface Notice {
    /** When it was made. */
    created_at: number;
    /** The values that the text speaks of. */
    detail: Record<string, unknown> | null;
    /** What kind of notice it is, for programs */
    kind: string;
    notification_id: number;
    read: boolean;
    /** When it was read. */
    read_at: number | null;
    /** What it is about, in the caller's language. */
    subject: string;
    /** In the caller's language. */
    text: string;
}

/** One user record of a partner. */
export interface PartnerUser {
    /** When the record was made. */
    created_at: number;
    /** As the partner gave it. */
    email: string;
    /** The record's number. */
    id: number;
    /** The member who has confirmed this address */
    member_id: number | null;
    /** When it was last changed. */
    updated_at: number;
}

export interface Passkey {
    /** When it was made. */
    created_at: number;
    /** The client's own number of the device. */
    device_id: number | null;
    /** When it last signed in. */
    last_used: number | null;
    name: string;
    passkey_id: number;
}

export interface Programme {
    cat_group: string;
    levels: ProgrammeLevelsRow[];
    safety: ProgrammeSafetyRow[];
    /** Whose safety logbook its records are in. */
    safety_logbook: string;
}

export interface ProgrammeLevelsRow {
    /** The level, as text. */
    cat_id: string;
    cat_name: string;
    /** Each of them, or a higher level. */
    requires: ProgrammeLevelsRowRequiresRow[];
    skills: ProgrammeLevelsRowSkillsRow[];
    /** Empty where the level has none. */
    track: string;
}

export interface ProgrammeLevelsRowRequiresRow {
    cat_group: string;
    cat_id: string;
    /** Null */
    track: string | null;
}

export interface ProgrammeLevelsRowSkillsRow {
    /** Whether the level is held only with it. */
    required: boolean;
    /** The value for `skill` of an entry. */
    skill: string;
    skill_name: string;
}

export interface ProgrammeSafetyRow {
    kind: "initial" | "recurrent" | (string & {});
    /** The value for `skill` of an entry. */
    skill: string;
    skill_name: string;
}

/** A skill, or a safety brief or training, of a member. */
export interface SkillEntry {
    /** When it was signed */
    approval_date: number | null;
    /** The member who entered it. */
    author_id: number;
    /** The programme. */
    cat_group: string;
    /** The level, as text */
    cat_id: string;
    cat_name: string;
    comment: string;
    comment_denial: string;
    comments_instructor: string;
    /** When it was entered. */
    created_at: number;
    /** When it was flown. */
    entry_date: number;
    entry_id: number;
    /** The same as `entry_id`. */
    id: number;
    /** The signer's number, as text. */
    instructor: string;
    instructor_name: string;
    /** `time` */
    kind: "skill" | "safety" | "time" | (string & {});
    /** Whose entry. */
    member_id: number;
    member_name: string;
    /** Whether it is part of an opening balance. */
    opening: boolean;
    /** The skill's number, as text. */
    skill: string;
    skill_name: string;
    /** `pending` waits for the signer */
    status: "pending" | "open" | "denied" | "not_current" | "suspended" | "cancelled" | (string & {});
    /** Minutes, as text. */
    time: string;
    /** The tunnel's number, as text. */
    tunnel: string;
    tunnel_name: string;
    /** Grows with every change */
    version: number;
}

export interface Session {
    /** Signed in. */
    created_at: number;
    /** The app's or browser's name, from its `user-agent`. */
    device: string;
    /** When it ends unless it is used. */
    ends_at: number;
    /** Last used, to within an hour or so. */
    seen_at: number;
    /** Names the session without being its token. */
    session_id: string;
    /** Whether this call came by it. */
    this: boolean;
}

/** Flight time. */
export interface TimeEntry {
    /** The member who entered it. */
    author_id: number;
    /** The booking that made it. */
    booking_id: number | null;
    comment: string;
    /** When it was entered. */
    created_at: number;
    /** When it was flown. */
    entry_date: number;
    entry_id: number;
    /** The same as `entry_id`. */
    id: number;
    /** The member who flew. */
    member_id: number;
    /** Whether it is part of an opening balance. */
    opening: boolean;
    /** `open` */
    status: "open" | "pending" | "denied" | "suspended" | "cancelled" | (string & {});
    /** Minutes, as text. */
    time: string;
    /** The tunnel's number, as text. */
    tunnel: string;
    tunnel_name: string;
}

export interface LoginRequest {
    /** Has no effect */
    checkTwoFactor?: boolean | number | "true" | "false" | "1" | "0" | (string & {}) | null | string;
    /** The method of the second step */
    passcodeOption?: "email" | "sms" | "totp" | (string & {}) | null | string;
    password: string | number;
    /** The username or the e-mail address. */
    username: string | number;
}

export interface Login {
    /** 0 nothing */
    confirmationPending: number;
    /** 0 where the sign-in was refused. */
    member_id: number;
    /** Empty, or a sentence for the member. */
    message: string;
    /** False */
    status: boolean;
    /** Ours, of `/auth/social` alone */
    step_token?: string;
    /** The session, for later requests */
    token: string;
}

export interface Credentials {
    password: string | number;
    /** The username or the e-mail address. */
    username: string | number;
}

export interface PasskeyQuestion {
    /** The client's own number of the device. */
    device_id?: number | string | null | string;
    /** Ours, without a session */
    discoverable?: boolean | number | "true" | "false" | "1" | "0" | (string & {}) | null | string;
    /** Ours, with `sign_entry` */
    entry_id?: number | string | null | string;
    /** Ours, with a session */
    name?: Record<string, unknown>;
    /** Ours, with `sign_paper` */
    paper?: string | number | null | string;
    /** Ours, without a session */
    purpose?: "sign_in" | "desk" | "kiosk" | "own" | "sign_entry" | "sign_paper" | (string & {}) | null | string;
    /** Required without a session, unless `discoverable` is true. */
    username?: string | number | null | string;
}

export interface PasskeyOptions {
    /** The argument of `navigator.credentials.get` (or `create`), its bytes in base64url */
    publicKey: PasskeyOptionsPublicKey;
    status: boolean;
}

/** The argument of `navigator.credentials.get` (or `create`), its bytes in base64url */
export interface PasskeyOptionsPublicKey {
    /** Valid once, for five minutes. */
    challenge: string;
}

export interface PasskeyAnswer {
    /** `PublicKeyCredential` as JSON text, its bytes in base64url. */
    credential: string | number;
}

export interface Payment {
    /** In the smallest unit of the currency. */
    amount_cents: number;
    /** When it was first heard of. */
    created_at: number;
    /** ISO 4217. */
    currency: string;
    /** The processor's name for it, as its callback carries it. */
    paymentIntentId: string;
    payment_id: number;
    status: "claimed" | "created" | "processing" | "succeeded" | "failed" | "canceled" | "refunded" | (string & {});
    /** When it last changed. */
    updated_at: number;
}

export interface Reauthentication {
    /** Required without `password`. */
    code?: string | number | null | string;
    /** The current password. */
    password?: string | number | null | string;
}

export interface AccountAccess {
    /** The answer to question 3 of the catalogue. */
    answer_3?: string | number | null | string;
    /** The answer to question 4 of the catalogue. */
    answer_4?: string | number | null | string;
    /** The answer to question 9 of the catalogue. */
    answer_9?: string | number | null | string;
    /** Ours, with `passcode` */
    keep_passkeys?: (number | string)[] | string | number | null | string;
    /** Ours, with `passcode` */
    keep_social?: ("google" | "apple" | "facebook" | (string & {}))[] | string | null | string;
    /** The channel by which the passcode is sent */
    option?: "email" | "sms" | (string & {}) | null | string;
    /** The passcode that was sent */
    passcode?: string | number | null | string;
    /** The new password */
    password?: string | number | null | string;
    /** The username or the e-mail address. */
    username: string | number;
}

export interface UsernameRequest {
    email: string;
    /** The passcode that was sent. */
    passcode?: string | number | null | string;
}

export interface RecoveredUsername {
    message: string;
    status: boolean;
    /** Empty in a refusal. */
    username: string;
}

export interface RecoveryQuestionListRow {
    /** Its number in the catalogue, for `answer_<number>`. */
    question: number;
    /** In the caller's language. */
    text: string;
}

export interface ReportRequest {
    /** Ours */
    after?: number | string | null | string;
    /** Ours */
    client_id?: string | number | null | string;
    /** Ours */
    from?: number | string | null | string | boolean | string;
    /** The most rows in the answer */
    limit?: number | string | null | string;
    offset?: number | string | null | string;
    /** Ours */
    to?: number | string | null | string | boolean | string;
}

/** Bookings, newest first. */
export interface BookingList {
    data: Booking[];
    /** Rows of this answer, at most. */
    limit: number;
    /** Rows that were left out before these. */
    offset: number;
    status: boolean;
    /** Rows in all. */
    total: number;
}

/** What the partners did. */
export interface HistoryList {
    data: HistoryEvent[];
    /** Rows of this answer, at most. */
    limit: number;
    /** Rows that were left out before these. */
    offset: number;
    status: boolean;
    /** Rows in all. */
    total: number;
}

export interface HistoryEvent {
    /** When it happened. */
    at: number;
    /** The booking that it is about. */
    booking_id: number | null;
    /** The partner. */
    client_id: string;
    /** Of a booking its values */
    detail: HistoryEventDetail;
    event: "user.created" | "user.edited" | "user.deleted" | "token.issued" | "token.refused" | "booking.recorded" | "booking.changed" | "booking.moved" | "booking.cancelled" | "booking.no_show" | "booking.restored" | "booking.checked_in" | "booking.check_in_undone" | "site.restored" | (string & {});
    /** The member that it is about. */
    member_id: number | null;
    /** Grows and never repeats */
    seq: number;
    /** The partner's record that it is about. */
    user_id: number | null;
}

/** Of a booking its values */
export interface HistoryEventDetail {
    arrived_at?: number | null;
    checkin_time?: number | null;
    ended?: "cancelled" | "no_show" | (string & {}) | null;
    ended_at?: number | null;
    flight_date?: number;
    /** The last row before those that are gone. */
    last_kept?: number;
    /** The last row that is gone. */
    last_lost?: number;
    minutes_booked?: number;
    product_id?: number | null;
    purchase_date?: number | null;
    purchase_id?: number | null;
    reason?: "booking.wrong_pin" | "booking.banned" | "booking.email_not_confirmed" | "booking.unpaid" | "booking.was_cancelled" | "booking.was_missed" | "booking.pin_outdated" | (string & {});
    registration_id?: number | null;
    restored_by?: string;
    tunnel_id?: number;
}

export interface EmailToken {
    /** The token out of the message. */
    token: string | number;
}

export interface SecurityQuestion {
    /** Whether the member gave an answer */
    answered: boolean;
    /** Its number. */
    question: number;
    /** In the caller's language. */
    text: string;
}

export interface PasscodeRequest {
    /** The country of the number */
    country?: Record<string, unknown>;
    /** The new e-mail address */
    email?: string | null | string;
    /** The new telephone number. */
    phone?: Record<string, unknown>;
}

export interface Signature {
    comments_instructor?: string | number | null | string;
    /** The entry's `version` that the signer saw */
    version?: number | string | null | string;
}

export interface WaiverSignature {
    /** The emergency contact */
    emergency_name?: string | number | null | string;
    emergency_phone?: string | number | null | string;
    /** The flyers */
    flyers: WaiverSignatureFlyersRow[];
    /** The language of the text that was shown, from the answer to the `GET`. */
    language: string | number;
    /** The typed name of the signer. */
    signer_name: string | number;
    /** The drawn signature */
    strokes?: string | number | null | string;
    /** The version of the text that was shown. */
    version: number | string;
}

export interface WaiverSignatureFlyersRow {
    /** The answers to the questions, in their order */
    answers: boolean[];
    /** Midnight of the day of birth */
    dob?: number | string | null;
    member_id: number | string;
}

export interface WaiverSigned {
    message: string;
    /** In the order of the flyers. */
    signature_ids: number[];
    status: boolean;
    /** Whether the site's staff has to decide because of an answer. */
    waits_for_staff: boolean;
}

export interface SignupRequest {
    /** Capitals and spaces do not count. */
    answer_1?: string | number | null | string;
    /** Capitals and spaces do not count. */
    answer_2?: string | number | null | string;
    /** Capitals and spaces do not count. */
    answer_3?: string | number | null | string;
    /** An ISO 3166 code of two or three letters, the country's name in English, German, French, Spanish or Italian, or its calling code. */
    country?: string | number | null | string;
    /** A calling code or an ISO 3166 code, for `phone`. */
    country_code?: string | number | null | string;
    /** Midnight of the day of birth */
    dob?: number | string | null | string;
    email: string;
    /** The client's echo */
    message?: Record<string, unknown>;
    password: string | number;
    /** A telephone number */
    phone?: string | number | null | string;
    /** The number of a question of the catalogue */
    question_1?: number | string | null | string;
    /** The number of a question of the catalogue */
    question_2?: number | string | null | string;
    /** The number of a question of the catalogue */
    question_3?: number | string | null | string;
    real_name: string | number;
    /** The client's echo */
    salt?: Record<string, unknown>;
    /** The name that others see */
    screen_name?: string | number | null | string;
    /** The client's echo */
    success?: Record<string, unknown>;
    /** Whether the terms are accepted */
    terms: boolean | number | "true" | "1" | (string & {});
    /** The home tunnel */
    tunnel?: number | string | null | string;
    username: string | number;
}

export interface Signup {
    /** The e-mail address waits for its confirmation. */
    confirmationPending: boolean;
    /** The new member. */
    member_id: number;
    message: string;
    status: boolean;
}

export interface SocialSignIn {
    /** JSON text with the network's ID token (`id_token` or `credential`), or Facebook's `signed_request`. */
    params: string | number;
    /** Which network. */
    socialType: "google" | "apple" | "facebook" | (string & {});
    /** Apple's user data of the first sign-in */
    user?: string | number | null | string;
}

export interface TotpSetupRequest {
    /** Ours */
    code?: string | number | null | string;
    /** Optional */
    member_id?: number | string | null | string;
    password: string | number;
    /** The username or the e-mail address. */
    username: string | number;
}

export interface TotpSetup {
    member_id: number;
    message: string;
    /** For the app, as a link. */
    otpauth_url: string;
    /** The same as a picture */
    qr: string;
    /** Base32, for typing. */
    secret: string;
    status: boolean;
}

export interface TotpProof {
    code: string | number;
    /** Optional */
    member_id?: number | string | null | string;
    password: string | number;
    /** The username or the e-mail address. */
    username: string | number;
}

export interface TotpTurnedOn {
    member_id: number;
    message: string;
    recovery_codes: string[];
    status: boolean;
}

export interface Translations {
    /** Texts by key */
    data: Record<string, string>;
    /** The language of the texts. */
    language: "en" | "de" | "fr" | "it" | "es" | (string & {});
    languages: TranslationsLanguagesRow[];
    status: boolean;
}

export interface TranslationsLanguagesRow {
    code: "en" | "de" | "fr" | "it" | "es" | (string & {});
    /** As its speakers call it. */
    name: string;
}

export interface FactorRequest {
    /** Ours */
    code?: string | number | null | string;
    operation: "status" | "enable" | "disable" | "recovery-codes" | "send-passcode" | (string & {});
}

export interface Factor {
    message: string;
    /** Ours */
    method: "totp" | "passcode" | (string & {});
    recovery_codes?: string[];
    /** Ours. */
    recovery_codes_left: number;
    /** As it is afterwards. */
    status: "enabled" | "disabled" | (string & {});
}

export interface UploadMediaAnswer {
    height: number;
    message: string;
    status: boolean;
    /** Of the picture as it is kept. */
    width: number;
}

export interface PasscodeProof {
    /** The country of the number */
    country?: Record<string, unknown>;
    /** The new e-mail address */
    email?: string | null | string;
    /** The six digits, as a number or as text. */
    passcode: number | string;
    /** The new telephone number. */
    phone?: Record<string, unknown>;
}

export interface Operations {
    /** The member's bookings. */
    bookingHistory(query?: { limit?: number; offset?: number }): Promise<Booking[]>;
    /** Make a booking PIN. */
    bookingPin(): Promise<Pin>;
    /** Cancel one of your bookings. */
    cancelOwnBooking(registration_id: number | string): Promise<OwnBooking>;
    /** Which sections of the logbook to show. */
    categoryOptions(member_id: number | string): Promise<CategoryOptions>;
    /** Change the password. */
    changePassword(body: PasswordChange): Promise<Done>;
    /** Ask whether a username is free. */
    checkUsername(body: UsernameCheck): Promise<Availability>;
    /** The coach safety logbook. */
    coachSafety(member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SafetyEntry[]>;
    /** Write to the people of the site. */
    contact(body: ContactMessage): Promise<Done>;
    /** How many entries wait for the caller's signature. */
    countRequests(): Promise<CountRequestsAnswer>;
    /** Countries and their calling codes. */
    countries(query?: { limit?: number; offset?: number }): Promise<Country[]>;
    /** Get a ticket for one stream. */
    createEventTicket(): Promise<EventTicket>;
    /** Record flight time. */
    createMemberTime(body: TimeNew): Promise<Written>;
    /** Enter an opening balance. */
    createOpeningBalance(member_id: number | string, body: OpeningBalance): Promise<SkillWritten>;
    /** Create a user record. */
    createPartnerUser(body: PartnerUserNew): Promise<OnePartnerUser>;
    /** Ask for a skill, or record one. */
    createSkill(body: SkillNew): Promise<SkillWritten>;
    /** Record flight time. */
    createTime(body: TimeNew): Promise<Written>;
    /** Delete an entry. */
    deleteEntry(entry_id: number | string): Promise<Done>;
    /** Delete a user record. */
    deletePartnerUser(id: number | string): Promise<Done>;
    /** Remove a passkey. */
    deletePasskey(passkey_id: number | string): Promise<Done>;
    /** Refuse an entry. */
    denyEntry(entry_id: number | string, body: Denial): Promise<SkillWritten>;
    /** Change a user record. */
    editPartnerUser(body: PartnerUserEdit): Promise<OnePartnerUser>;
    /** Change names and home tunnel. */
    editProfile(body: ProfileEdit): Promise<Done>;
    /** Change, sign, deny or withdraw an entry. */
    editSkill(entry_id: number | string, body: SkillEdit): Promise<SkillWritten>;
    /** Change flight time. */
    editTime(id: number | string, body: TimeEdit): Promise<Written>;
    /** Sign out everywhere else. */
    endOtherSessions(): Promise<Done>;
    /** End one session. */
    endSession(session_id: number | string): Promise<Done>;
    /** A member's logbook as CSV. */
    exportLogbook(member_id: number | string, query?: { separator?: string }): Promise<Uint8Array>;
    /** Skills that a member may ask for. */
    filterSkills(member_id: number | string, category: number | string, query?: { limit?: number; offset?: number }): Promise<OpenSkill[]>;
    /** A flyer's levels at a glance. */
    flyerLevels(member_id: number | string): Promise<FlyerLevels>;
    /** The flyer safety logbook. */
    flyerSafety(member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SafetyEntry[]>;
    /** Exchange a member's PIN for a token, and record a booking. */
    generateToken(body: TokenRequest): Promise<Token>;
    /** Take a certificate home. */
    getCertificate(body: CertificateRequest): Promise<string>;
    /** See the picture. */
    getMedia(): Promise<Uint8Array>;
    /** Read one of your bookings. */
    getOwnBooking(registration_id: number | string): Promise<OwnBooking>;
    /** Read one user record. */
    getPartnerUser(id: number | string): Promise<OnePartnerUser>;
    /** Read the profile. */
    getProfile(): Promise<Profile>;
    /** A tunnel. */
    getTunnel(tunnel_id: number | string, query?: { limit?: number; offset?: number }): Promise<OneTunnel | Tunnel[]>;
    /** Read the waiver that is to be signed. */
    getWaiver(): Promise<Waiver>;
    /** The instructor safety logbook. */
    instructorSafety(member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SafetyEntry[]>;
    /** Make a code to sign in at a kiosk. */
    kioskCode(): Promise<KioskCode>;
    /** Which certificates there are. */
    listCertificates(query?: { limit?: number; offset?: number }): Promise<Certificate[]>;
    /** The events of an entry. */
    listEntryEvents(entry_id: number | string, query?: { limit?: number; offset?: number }): Promise<EntryEvent[]>;
    /** Who may sign a skill at a tunnel. */
    listInstructors(skill: number | string, tunnel: number | string, query?: { limit?: number; offset?: number }): Promise<Signer[]>;
    /** The tunnels that an entry can name. */
    listLogbookTunnels(query?: { limit?: number; offset?: number }): Promise<LogbookTunnel[]>;
    /** The member's notices. */
    listNotifications(query?: { limit?: number; offset?: number }): Promise<Notice[]>;
    /** List your bookings. */
    listOwnBookings(query?: { limit?: number; offset?: number }): Promise<Booking[]>;
    /** List your user records. */
    listPartnerUsers(query?: { limit?: number; offset?: number }): Promise<PartnerUser[]>;
    /** The member's passkeys. */
    listPasskeys(query?: { limit?: number; offset?: number }): Promise<Passkey[]>;
    /** The catalogue of skills. */
    listProgrammes(query?: { limit?: number; offset?: number }): Promise<Programme[]>;
    /** Entries that wait for the caller's signature. */
    listRequests(query?: { limit?: number; offset?: number }): Promise<SkillEntry[]>;
    /** Where the member is signed in. */
    listSessions(query?: { limit?: number; offset?: number }): Promise<Session[]>;
    /** A member's entries. */
    listSkills(member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SkillEntry[]>;
    /** A member's entries in some states. */
    listSkillsByStatus(status: number | string, member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SkillEntry[]>;
    /** A member's flight time. */
    listTime(id: number | string, query?: { limit?: number; offset?: number }): Promise<TimeEntry[]>;
    /** Sign in by password. */
    login(body: LoginRequest): Promise<Login>;
    /** Renew a session. */
    loginSilent(body: Credentials): Promise<Login>;
    /** Sign out. */
    logout(): Promise<Done>;
    /** The military safety logbook. */
    militarySafety(member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SafetyEntry[]>;
    /** Begin with a passkey. */
    passkeyOptions(body: PasskeyQuestion): Promise<PasskeyOptions>;
    /** Finish with a passkey. */
    passkeyVerify(body: PasskeyAnswer): Promise<Login>;
    /** The member's payments. */
    paymentHistory(query?: { limit?: number; offset?: number }): Promise<Payment[]>;
    /** A member's logbook on paper. */
    printLogbook(member_id: number | string): Promise<Uint8Array>;
    /** A member's progression as a picture. */
    progression(member_id: number | string): Promise<Uint8Array>;
    /** Mark a notice read. */
    readNotification(notification_id: number | string): Promise<Done>;
    /** Prove the identity again. */
    reauthenticate(body: Reauthentication): Promise<Done>;
    /** Set a forgotten password. */
    recoverPassword(body: AccountAccess): Promise<Done>;
    /** Recover a forgotten username. */
    recoverUsername(body: UsernameRequest): Promise<RecoveredUsername | Done>;
    /** Which questions to answer. */
    recoveryQuestions(query?: { username?: string; limit?: number; offset?: number }): Promise<RecoveryQuestionListRow[]>;
    /** Put a suspended entry in force again. */
    reinstateEntry(entry_id: number | string, body?: Record<string, unknown>): Promise<SkillWritten>;
    /** Remove the picture. */
    removeMedia(): Promise<Done>;
    /** Bookings of all partners. */
    reportBookings(body: ReportRequest): Promise<BookingList>;
    /** What the partners did, and what became of their bookings. */
    reportHistory(body: ReportRequest): Promise<HistoryList>;
    /** Have a new confirmation token sent. */
    resendVerifyEmail(body: EmailToken): Promise<Done>;
    /** The catalogue of security questions. */
    securityQuestions(query?: { limit?: number; offset?: number }): Promise<SecurityQuestion[]>;
    /** Have a passcode sent to a new address or number. */
    sendVerificationPasscode(body: PasscodeRequest): Promise<Done>;
    /** Sign an entry. */
    signEntry(entry_id: number | string, body: Signature): Promise<SkillWritten>;
    /** Sign the waiver. */
    signWaiver(body: WaiverSignature): Promise<WaiverSigned>;
    /** Become a member. */
    signup(body: SignupRequest): Promise<Signup>;
    /** Sign in by Google, Apple or Facebook. */
    socialSignIn(body: SocialSignIn): Promise<Login>;
    /** Suspend a signed entry. */
    suspendEntry(entry_id: number | string, body?: Record<string, unknown>): Promise<SkillWritten>;
    /** Set up an authenticator app. */
    totpSetup(body: TotpSetupRequest): Promise<TotpSetup | Login>;
    /** Turn the authenticator app on. */
    totpVerifySetup(body: TotpProof): Promise<TotpTurnedOn | Login>;
    /** The trainer safety logbook. */
    trainerSafety(member_id: number | string, query?: { limit?: number; offset?: number }): Promise<SafetyEntry[]>;
    /** The product's texts. */
    translations(query?: { language?: string }): Promise<Translations>;
    /** See, turn on or off the second factor. */
    twoFactorOperation(body: FactorRequest): Promise<Factor>;
    /** Bring a picture. */
    uploadMedia(body: Blob): Promise<UploadMediaAnswer>;
    /** Confirm an e-mail address. */
    verifyEmail(body: EmailToken): Promise<Done>;
    /** The second step of a sign-in. */
    verifyTotp(body: TotpProof): Promise<Login>;
    /** Take over the new address or number. */
    verifyVerificationPasscode(body: PasscodeProof): Promise<Done>;
}
