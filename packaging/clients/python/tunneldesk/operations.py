"""Made by packaging/clients/generate from the description of the API."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict


class Code:
    """The codes of refusals that this version knows. A site may send others."""

    INSECURE = "insecure"
    BAD_JSON = "bad_json"
    BAD_REQUEST = "bad_request"
    CODE_MISSING = "code_missing"
    NOT_SIGNED_IN = "not_signed_in"
    BAD_SIGNATURE = "bad_signature"
    CLIENT_ID_MISSING = "client_id_missing"
    SIGNATURE_REPEATED = "signature_repeated"
    BAD_CALLBACK = "bad_callback"
    BAD_TIMESTAMP = "bad_timestamp"
    BAD_NONCE = "bad_nonce"
    NOT_ALLOWED = "not_allowed"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    REAUTHENTICATION_NEEDED = "reauthentication_needed"
    SECOND_FACTOR_REQUIRED = "second_factor_required"
    NOT_FOUND = "not_found"
    UNKNOWN_PATH = "unknown_path"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    TOO_SLOW = "too_slow"
    EMAIL_TAKEN = "email_taken"
    USERNAME_TAKEN = "username_taken"
    BOOKING_OF_ANOTHER_MEMBER = "booking_of_another_member"
    ENTRY_SIGNED = "entry_signed"
    SKILL_TAKEN = "skill_taken"
    ENTRY_STATE = "entry_state"
    BOOKING_STATE = "booking_state"
    WAIVER_MISSING = "waiver_missing"
    WAIVER_CHANGED = "waiver_changed"
    ENTRY_CHANGED = "entry_changed"
    EMAIL_NOT_CONFIRMED = "email_not_confirmed"
    PASSKEYS_NEED_HTTPS = "passkeys_need_https"
    PASSKEYS_FULL = "passkeys_full"
    EXISTS = "exists"
    LOGBOOK_FULL = "logbook_full"
    SECOND_FACTOR_OFF = "second_factor_off"
    NOTHING_CONFIRMED = "nothing_confirmed"
    EVENTS_GONE = "events_gone"
    BODY_TOO_LARGE = "body_too_large"
    URI_TOO_LONG = "uri_too_long"
    UNSUPPORTED_TYPE = "unsupported_type"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    UNSUPPORTED_PICTURE = "unsupported_picture"
    UNKNOWN_HOST = "unknown_host"
    INVALID_FIELDS = "invalid_fields"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    TOO_FAST = "too_fast"
    PASSCODE_TOO_MANY = "passcode_too_many"
    HEADERS_TOO_LARGE = "headers_too_large"
    BROKEN = "broken"
    OVERLOADED = "overloaded"
    NOT_CONFIGURED = "not_configured"
    CLOCK_SUSPECT = "clock_suspect"
    STORE_STOPPED = "store_stopped"
    STORE_DAMAGED = "store_damaged"
    REPLACED = "replaced"
    STANDBY_AWAY = "standby_away"
    DISK_HANGS = "disk_hangs"
    OUTCOME_UNKNOWN = "outcome_unknown"
    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"


class Booking(TypedDict):
    """A booking."""

    arrived_at: int | None
    booking_id: int
    checkin_time: int | None
    client_id: str
    created_at: int
    ended: str | None
    ended_at: int | None
    entry_id: int | None
    flight_date: int
    id: int
    member_id: int
    minutes_booked: int
    product_id: int | None
    purchase_date: int | None
    purchase_id: int | None
    registration_id: int | None
    tunnel_id: int
    tunnel_name: str
    updated_at: int


class Pin(TypedDict):
    message: str
    pin: str
    status: bool


class OwnBooking(TypedDict):
    """One booking, as the answer to a request about it."""

    arrived_at: int | None
    booking_id: int
    checkin_time: int | None
    client_id: str
    created_at: int
    ended: str | None
    ended_at: int | None
    entry_id: int | None
    flight_date: int
    id: int
    member_id: int
    message: str
    minutes_booked: int
    product_id: int | None
    purchase_date: int | None
    purchase_id: int | None
    registration_id: int | None
    status: bool
    tunnel_id: int
    tunnel_name: str
    updated_at: int


class CategoryOptions(TypedDict):
    """Which sections of the logbook to show, in the contract's types, the odd ones included."""

    afcOption: CategoryOptionsAfcOption
    coachOption: CategoryOptionsCoachOption
    coachSafetyOption: CategoryOptionsCoachSafetyOption
    examinerOption: CategoryOptionsExaminerOption
    flyerOption: CategoryOptionsFlyerOption
    flyerSafetyOption: CategoryOptionsFlyerSafetyOption
    instructorOption: CategoryOptionsInstructorOption
    instructorSafetyOption: CategoryOptionsInstructorSafetyOption
    logCurrency: CategoryOptionsLogCurrency
    militaryOption: CategoryOptionsMilitaryOption
    militarySafetyOption: CategoryOptionsMilitarySafetyOption
    trainerOption: CategoryOptionsTrainerOption
    trainerSafetyOption: CategoryOptionsTrainerSafetyOption


class CategoryOptionsAfcOption(TypedDict):
    disabled: str
    show: bool
    showTab: str
    skillCategory: int


class CategoryOptionsCoachOption(TypedDict):
    disabled: str
    show: bool
    showTab: bool
    skillCategory: int


class CategoryOptionsCoachSafetyOption(TypedDict):
    disabled: str
    show: bool
    showTab: int


class CategoryOptionsExaminerOption(TypedDict):
    disabled: str
    disabledTab: bool
    show: bool
    showTab: bool
    skillCategory: int


class CategoryOptionsFlyerOption(TypedDict):
    disabled: str
    show: bool
    showTab: bool
    skillCategory: int


class CategoryOptionsFlyerSafetyOption(TypedDict):
    disabled: str
    show: bool
    showTab: bool


class CategoryOptionsInstructorOption(TypedDict):
    disabled: str
    disabledTab: bool
    show: bool
    showTab: bool
    skillCategory: int


class CategoryOptionsInstructorSafetyOption(TypedDict):
    disabled: str
    show: bool
    showTab: bool


class CategoryOptionsLogCurrency(TypedDict):
    disabled: str
    show: bool
    showTab: bool


class CategoryOptionsMilitaryOption(TypedDict):
    disabled: str
    show: bool
    showTab: bool
    skillCategory: int


class CategoryOptionsMilitarySafetyOption(TypedDict):
    disabled: str
    show: bool
    showTab: int


class CategoryOptionsTrainerOption(TypedDict):
    disabled: str
    disabledTab: bool
    show: bool
    showTab: bool
    skillCategory: int


class CategoryOptionsTrainerSafetyOption(TypedDict):
    disabled: str
    show: bool
    showTab: bool


class PasswordChange(TypedDict):
    current_password: str | float
    password: str | float
    password_confirm: str | float


class Done(TypedDict):
    """Nothing to say but that it was done."""

    message: str
    status: bool


class UsernameCheck(TypedDict):
    username: str | float


class Availability(TypedDict):
    available: bool
    message: str
    status: bool


class SafetyEntry(TypedDict):
    approval_date: int | None
    author_id: int
    cat_group: str
    cat_name: str
    comment: str
    comment_denial: str
    comments_instructor: str
    created_at: int
    entry_date: int
    entry_id: int
    id: int
    in_force: bool
    instructor: str
    instructor_name: str
    kind: str
    member_id: int
    skill: str
    skill_name: str
    status: str
    tunnel: str
    tunnel_name: str
    valid_until: int | None


class ContactMessage(TypedDict):
    country: NotRequired[str | float | None]
    email: str
    enquiry: NotRequired[str | float | None]
    member_id: NotRequired[int | str | None]
    message: str | float
    name: str | float


class CountRequestsAnswer(TypedDict):
    count: int


class Country(TypedDict):
    code: str
    code3: str
    dial_code: str
    name: str


class EventTicket(TypedDict):
    """A ticket for one stream."""

    ends_at: int
    seconds: int
    status: bool
    ticket: str


class TimeNew(TypedDict):
    comment: NotRequired[str | float | None]
    entry_date: float | str
    status: NotRequired[dict[str, Any]]
    time: int | str
    tunnel: NotRequired[int | str | None]


class Written(TypedDict):
    entry_id: int
    message: str
    status: bool


class OpeningBalance(TypedDict):
    comment: NotRequired[str | float | None]
    entry_date: float | str
    instructor: int | str
    skills: NotRequired[list[str | int] | str | float | None]
    time: NotRequired[int | str | None]
    tunnel: NotRequired[int | str | None]


class SkillWritten(TypedDict):
    entry_id: int
    entry_status: str
    message: str
    status: bool


class PartnerUserNew(TypedDict):
    email: str


class OnePartnerUser(TypedDict):
    """One user record, as the answer to a request about it."""

    created_at: int
    email: str
    id: int
    may_check_in: NotRequired[bool]
    member_id: int | None
    message: str
    status: bool
    updated_at: int


class SkillNew(TypedDict):
    author_id: NotRequired[str | float | None]
    cat_group: NotRequired[str | float | None]
    cat_id: NotRequired[str | float | None]
    cat_name: NotRequired[str | float | None]
    comment: NotRequired[str | float | None]
    comment_denial: NotRequired[str | float | None]
    comments_instructor: NotRequired[str | float | None]
    entry_date: float | str
    entry_id: NotRequired[str | float | None]
    id: NotRequired[str | float | None]
    instructor: NotRequired[int | str | None]
    instructor_name: NotRequired[str | float | None]
    member_id: NotRequired[int | str | None]
    skill: str | float
    skill_name: NotRequired[str | float | None]
    status: NotRequired[dict[str, Any]]
    time: NotRequired[int | str | None]
    tunnel: NotRequired[int | str | None]
    tunnel_name: NotRequired[str | float | None]


class Denial(TypedDict):
    comment_denial: str | float
    version: NotRequired[int | str | None]


class PartnerUserEdit(TypedDict):
    email: str
    id: int | str


class ProfileEdit(TypedDict):
    real_name: str | float
    screen_name: str | float
    tunnel: int | str
    username: str | float
    verify_password: str | float


class SkillEdit(TypedDict):
    author_id: NotRequired[str | float | None]
    cat_group: NotRequired[str | float | None]
    cat_id: NotRequired[str | float | None]
    cat_name: NotRequired[str | float | None]
    comment: NotRequired[str | float | None]
    comment_denial: NotRequired[str | float | None]
    comments_instructor: NotRequired[str | float | None]
    entry_date: NotRequired[float | str | None | bool]
    entry_id: NotRequired[int | str | None]
    id: NotRequired[int | str | None]
    instructor: NotRequired[int | str | None]
    instructor_name: NotRequired[str | float | None]
    skill: NotRequired[str | float | None]
    skill_name: NotRequired[str | float | None]
    status: NotRequired[str | None]
    time: NotRequired[int | str | None]
    tunnel: NotRequired[int | str | None]
    tunnel_name: NotRequired[str | float | None]
    version: NotRequired[int | str | None]


class TimeEdit(TypedDict):
    comment: NotRequired[str | float | None]
    entry_date: NotRequired[float | str | None | bool]
    entry_id: NotRequired[int | str | None]
    id: NotRequired[int | str | None]
    time: NotRequired[int | str | None]
    tunnel: NotRequired[int | str | None]


class OpenSkill(TypedDict):
    cat_group: str
    cat_id: str
    cat_name: str
    required: bool
    skill: str
    skill_name: str
    track: str


class FlyerLevels(TypedDict):
    dynamic: str
    dynamicPending: bool
    formation: str
    formationPending: bool
    level1: str
    level1Pending: bool
    static: str
    staticPending: bool


class TokenRequest(TypedDict):
    """A request with any field of a booking is a booking"""

    checkin_time: NotRequired[float | str | None | bool]
    flight_date: NotRequired[float | str | None | bool]
    member_id: int | str
    member_pin: str | float
    minutes_booked: NotRequired[int | str | None]
    product_id: NotRequired[int | str | None]
    purchase_date: NotRequired[float | str | None | bool]
    purchase_id: NotRequired[int | str | None]
    registration_id: NotRequired[int | str | None]
    tunnel_id: NotRequired[int | str | None]


class Token(TypedDict):
    booking: NotRequired[TokenBooking]
    may_check_in: NotRequired[bool]
    message: str
    status: bool
    token: str


class TokenBooking(TypedDict):
    """The booking that the request sent, as it stands"""

    arrived_at: int | None
    booking_id: int
    ended: str | None
    ended_at: int | None
    flight_date: int
    minutes_booked: int
    registration_id: int | None
    tunnel_id: int


class CertificateRequest(TypedDict):
    cat_id: int | str
    entry_date: float | str
    member_id: int | str
    screen_name: str | float
    type: str | int


class Profile(TypedDict):
    brief: NotRequired[str]
    country: str
    country_code: str
    currency_coach: int
    currency_examiner: int
    currency_flyer: int
    currency_instructor: int
    currency_military: int
    currency_renewal_date_coach: int | None
    currency_renewal_date_examiner: int | None
    currency_renewal_date_flyer: int | None
    currency_renewal_date_instructor: int | None
    currency_renewal_date_military: int | None
    currency_renewal_date_trainer: int | None
    currency_trainer: int
    dob: int | None
    email: str
    email_verified: bool
    guardian: NotRequired[bool]
    join_date: int
    last_flight: int | None
    may_check_in: NotRequired[bool]
    member_id: int
    paymentData: ProfilePaymentData
    phone: str
    phone_verified: bool
    real_name: str
    role: str
    role_name: str
    screen_name: str
    total_flight_time: str
    tunnel: str
    tunnel_country: str
    tunnel_name: str
    username: str
    waiver: NotRequired[str]


class ProfilePaymentData(TypedDict):
    nextDate: int | None
    paymentStatus: str


class OneTunnel(TypedDict):
    data: Tunnel
    status: bool


class Tunnel(TypedDict):
    """A tunnel"""

    city: str
    country: str
    country_name: str
    name: str
    phone: str
    this_site: bool
    time_zone: str
    tunnel_id: int
    website: str


class Waiver(TypedDict):
    body: str
    flyers: list[WaiverFlyer]
    language: str
    published_at: int
    questions: list[str]
    text_hash: str
    title: str
    version: int


class WaiverFlyer(TypedDict):
    knows_dob: bool
    member_id: int
    name: str
    relation: str
    to_sign: bool
    waiver: str


class KioskCode(TypedDict):
    code: str
    ends_at: int
    message: str
    qr: str
    status: bool


class Certificate(TypedDict):
    """A level that the member holds."""

    cat_group: str
    cat_id: int
    entry_date: int
    member_id: int
    name: str
    screen_name: str
    signer_name: str
    track: str
    tunnel_name: str
    type: str


EntryEvent = TypedDict("EntryEvent", {
    "at": "int",
    "from": "str | None",
    "member_id": "int",
    "name": "str",
    "step": "int",
    "to": "str",
})


class Signer(TypedDict):
    id: int
    instructor: str
    instructor_name: str
    member_id: int
    role_name: str


class LogbookTunnel(TypedDict):
    address: str
    address_city: str
    city: str
    country: str
    entry_id: int
    id: int
    manufacturer: str
    name: str
    size: str
    status: str
    this: bool
    title: str
    tunnel_id: int


class Notice(TypedDict):
    created_at: int
    detail: dict[str, Any] | None
    kind: str
    notification_id: int
    read: bool
    read_at: int | None
    subject: str
    text: str


class PartnerUser(TypedDict):
    """One user record of a partner."""

    created_at: int
    email: str
    id: int
    member_id: int | None
    updated_at: int


class Passkey(TypedDict):
    created_at: int
    device_id: int | None
    last_used: int | None
    name: str
    passkey_id: int


class Programme(TypedDict):
    cat_group: str
    levels: list[ProgrammeLevelsRow]
    safety: list[ProgrammeSafetyRow]
    safety_logbook: str


class ProgrammeLevelsRow(TypedDict):
    cat_id: str
    cat_name: str
    requires: list[ProgrammeLevelsRowRequiresRow]
    skills: list[ProgrammeLevelsRowSkillsRow]
    track: str


class ProgrammeLevelsRowRequiresRow(TypedDict):
    cat_group: str
    cat_id: str
    track: str | None


class ProgrammeLevelsRowSkillsRow(TypedDict):
    required: bool
    skill: str
    skill_name: str


class ProgrammeSafetyRow(TypedDict):
    kind: str
    skill: str
    skill_name: str


class SkillEntry(TypedDict):
    """A skill, or a safety brief or training, of a member."""

    approval_date: int | None
    author_id: int
    cat_group: str
    cat_id: str
    cat_name: str
    comment: str
    comment_denial: str
    comments_instructor: str
    created_at: int
    entry_date: int
    entry_id: int
    id: int
    instructor: str
    instructor_name: str
    kind: str
    member_id: int
    member_name: str
    opening: bool
    skill: str
    skill_name: str
    status: str
    time: str
    tunnel: str
    tunnel_name: str
    version: int


class Session(TypedDict):
    created_at: int
    device: str
    ends_at: int
    seen_at: int
    session_id: str
    this: bool


class TimeEntry(TypedDict):
    """Flight time."""

    author_id: int
    booking_id: int | None
    comment: str
    created_at: int
    entry_date: int
    entry_id: int
    id: int
    member_id: int
    opening: bool
    status: str
    time: str
    tunnel: str
    tunnel_name: str


class LoginRequest(TypedDict):
    checkTwoFactor: NotRequired[bool | int | str | None]
    passcodeOption: NotRequired[str | None]
    password: str | float
    username: str | float


class Login(TypedDict):
    confirmationPending: int
    member_id: int
    message: str
    status: bool
    step_token: NotRequired[str]
    token: str


class Credentials(TypedDict):
    password: str | float
    username: str | float


class PasskeyQuestion(TypedDict):
    device_id: NotRequired[int | str | None]
    discoverable: NotRequired[bool | int | str | None]
    entry_id: NotRequired[int | str | None]
    name: NotRequired[dict[str, Any]]
    paper: NotRequired[str | float | None]
    purpose: NotRequired[str | None]
    username: NotRequired[str | float | None]


class PasskeyOptions(TypedDict):
    publicKey: PasskeyOptionsPublicKey
    status: bool


class PasskeyOptionsPublicKey(TypedDict):
    """The argument of `navigator.credentials.get` (or `create`), its bytes in base64url"""

    challenge: str


class PasskeyAnswer(TypedDict):
    credential: str | float


class Payment(TypedDict):
    amount_cents: int
    created_at: int
    currency: str
    paymentIntentId: str
    payment_id: int
    status: str
    updated_at: int


class Reauthentication(TypedDict):
    code: NotRequired[str | float | None]
    password: NotRequired[str | float | None]


class AccountAccess(TypedDict):
    answer_3: NotRequired[str | float | None]
    answer_4: NotRequired[str | float | None]
    answer_9: NotRequired[str | float | None]
    keep_passkeys: NotRequired[list[int | str] | str | int | None]
    keep_social: NotRequired[list[str] | str | None]
    option: NotRequired[str | None]
    passcode: NotRequired[str | float | None]
    password: NotRequired[str | float | None]
    username: str | float


class UsernameRequest(TypedDict):
    email: str
    passcode: NotRequired[str | float | None]


class RecoveredUsername(TypedDict):
    message: str
    status: bool
    username: str


class RecoveryQuestionListRow(TypedDict):
    question: int
    text: str


ReportRequest = TypedDict("ReportRequest", {
    "after": "NotRequired[int | str | None]",
    "client_id": "NotRequired[str | float | None]",
    "from": "NotRequired[float | str | None | bool]",
    "limit": "NotRequired[int | str | None]",
    "offset": "NotRequired[int | str | None]",
    "to": "NotRequired[float | str | None | bool]",
})


class BookingList(TypedDict):
    """Bookings, newest first."""

    data: list[Booking]
    limit: int
    offset: int
    status: bool
    total: int


class HistoryList(TypedDict):
    """What the partners did."""

    data: list[HistoryEvent]
    limit: int
    offset: int
    status: bool
    total: int


class HistoryEvent(TypedDict):
    at: int
    booking_id: int | None
    client_id: str
    detail: HistoryEventDetail
    event: str
    member_id: int | None
    seq: int
    user_id: int | None


class HistoryEventDetail(TypedDict):
    """Of a booking its values"""

    arrived_at: NotRequired[int | None]
    checkin_time: NotRequired[int | None]
    ended: NotRequired[str | None]
    ended_at: NotRequired[int | None]
    flight_date: NotRequired[int]
    last_kept: NotRequired[int]
    last_lost: NotRequired[int]
    minutes_booked: NotRequired[int]
    product_id: NotRequired[int | None]
    purchase_date: NotRequired[int | None]
    purchase_id: NotRequired[int | None]
    reason: NotRequired[str]
    registration_id: NotRequired[int | None]
    restored_by: NotRequired[str]
    tunnel_id: NotRequired[int]


class EmailToken(TypedDict):
    token: str | float


class SecurityQuestion(TypedDict):
    answered: bool
    question: int
    text: str


class PasscodeRequest(TypedDict):
    country: NotRequired[dict[str, Any]]
    email: NotRequired[str | None]
    phone: NotRequired[dict[str, Any]]


class Signature(TypedDict):
    comments_instructor: NotRequired[str | float | None]
    version: NotRequired[int | str | None]


class WaiverSignature(TypedDict):
    emergency_name: NotRequired[str | float | None]
    emergency_phone: NotRequired[str | float | None]
    flyers: list[WaiverSignatureFlyersRow]
    language: str | float
    signer_name: str | float
    strokes: NotRequired[str | float | None]
    version: int | str


class WaiverSignatureFlyersRow(TypedDict):
    answers: list[bool]
    dob: NotRequired[float | str | None]
    member_id: int | str


class WaiverSigned(TypedDict):
    message: str
    signature_ids: list[int]
    status: bool
    waits_for_staff: bool


class SignupRequest(TypedDict):
    answer_1: NotRequired[str | float | None]
    answer_2: NotRequired[str | float | None]
    answer_3: NotRequired[str | float | None]
    country: NotRequired[str | float | None]
    country_code: NotRequired[str | int | None]
    dob: NotRequired[float | str | None]
    email: str
    message: NotRequired[dict[str, Any]]
    password: str | float
    phone: NotRequired[str | float | None]
    question_1: NotRequired[int | str | None]
    question_2: NotRequired[int | str | None]
    question_3: NotRequired[int | str | None]
    real_name: str | float
    salt: NotRequired[dict[str, Any]]
    screen_name: NotRequired[str | float | None]
    success: NotRequired[dict[str, Any]]
    terms: bool | int | str
    tunnel: NotRequired[int | str | None]
    username: str | float


class Signup(TypedDict):
    confirmationPending: bool
    member_id: int
    message: str
    status: bool


class SocialSignIn(TypedDict):
    params: str | float
    socialType: str
    user: NotRequired[str | float | None]


class TotpSetupRequest(TypedDict):
    code: NotRequired[str | float | None]
    member_id: NotRequired[int | str | None]
    password: str | float
    username: str | float


class TotpSetup(TypedDict):
    member_id: int
    message: str
    otpauth_url: str
    qr: str
    secret: str
    status: bool


class TotpProof(TypedDict):
    code: str | float
    member_id: NotRequired[int | str | None]
    password: str | float
    username: str | float


class TotpTurnedOn(TypedDict):
    member_id: int
    message: str
    recovery_codes: list[str]
    status: bool


class Translations(TypedDict):
    data: dict[str, str]
    language: str
    languages: list[TranslationsLanguagesRow]
    status: bool


class TranslationsLanguagesRow(TypedDict):
    code: str
    name: str


class FactorRequest(TypedDict):
    code: NotRequired[str | float | None]
    operation: str


class Factor(TypedDict):
    message: str
    method: str
    recovery_codes: NotRequired[list[str]]
    recovery_codes_left: int
    status: str


class UploadMediaAnswer(TypedDict):
    height: int
    message: str
    status: bool
    width: int


class PasscodeProof(TypedDict):
    country: NotRequired[dict[str, Any]]
    email: NotRequired[str | None]
    passcode: int | str
    phone: NotRequired[dict[str, Any]]


class Operations:
    _call: Callable[..., Any]

    def booking_history(self, *, limit: int | None = None, offset: int | None = None) -> list[Booking]:
        """The member's bookings."""
        return self._call("GET", ("/account/profile/booking-history",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def booking_pin(self) -> Pin:
        """Make a booking PIN."""
        return self._call("POST", ("/account/profile/booking-pin",), keyed=True)

    def cancel_own_booking(self, registration_id: int | str) -> OwnBooking:
        """Cancel one of your bookings."""
        return self._call("DELETE", ("/external/partner-metrics/bookings/", registration_id), signs="request")

    def category_options(self, member_id: int | str) -> CategoryOptions:
        """Which sections of the logbook to show."""
        return self._call("GET", ("/account/logbook/category/", member_id))

    def change_password(self, body: PasswordChange) -> Done:
        """Change the password."""
        return self._call("PUT", ("/account/profile/change-password",), body=body)

    def check_username(self, body: UsernameCheck) -> Availability:
        """Ask whether a username is free."""
        return self._call("POST", ("/auth/signup/check-username",), body=body, keyed=True)

    def coach_safety(self, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SafetyEntry]:
        """The coach safety logbook."""
        return self._call("GET", ("/account/logbook/coach-safety/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def contact(self, body: ContactMessage) -> Done:
        """Write to the people of the site."""
        return self._call("POST", ("/public/contact",), body=body, keyed=True)

    def count_requests(self) -> CountRequestsAnswer:
        """How many entries wait for the caller's signature."""
        return self._call("GET", ("/account/notifications/requests",))

    def countries(self, *, limit: int | None = None, offset: int | None = None) -> list[Country]:
        """Countries and their calling codes."""
        return self._call("GET", ("/public/countries",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def create_event_ticket(self) -> EventTicket:
        """Get a ticket for one stream."""
        return self._call("POST", ("/events/ticket",), keyed=True)

    def create_member_time(self, body: TimeNew) -> Written:
        """Record flight time."""
        return self._call("POST", ("/account/logbook/member/time/",), body=body, keyed=True)

    def create_opening_balance(self, member_id: int | str, body: OpeningBalance) -> SkillWritten:
        """Enter an opening balance."""
        return self._call("POST", ("/account/logbook/opening-balance/", member_id), body=body, keyed=True)

    def create_partner_user(self, body: PartnerUserNew) -> OnePartnerUser:
        """Create a user record."""
        return self._call("POST", ("/external/partner-metrics/op",), body=body, signs="body", keyed=True)

    def create_skill(self, body: SkillNew) -> SkillWritten:
        """Ask for a skill, or record one."""
        return self._call("POST", ("/account/logbook/skills/",), body=body, keyed=True)

    def create_time(self, body: TimeNew) -> Written:
        """Record flight time."""
        return self._call("POST", ("/account/logbook/time/",), body=body, keyed=True)

    def delete_entry(self, entry_id: int | str) -> Done:
        """Delete an entry."""
        return self._call("DELETE", ("/account/logbook/", entry_id))

    def delete_partner_user(self, id: int | str) -> Done:
        """Delete a user record."""
        return self._call("DELETE", ("/external/partner-metrics/op/", id), signs="body")

    def delete_passkey(self, passkey_id: int | str) -> Done:
        """Remove a passkey."""
        return self._call("DELETE", ("/account/profile/passkeys/", passkey_id))

    def deny_entry(self, entry_id: int | str, body: Denial) -> SkillWritten:
        """Refuse an entry."""
        return self._call("POST", ("/account/logbook/entries/", entry_id, "/deny"), body=body, keyed=True)

    def edit_partner_user(self, body: PartnerUserEdit) -> OnePartnerUser:
        """Change a user record."""
        return self._call("PUT", ("/external/partner-metrics/op",), body=body, signs="body")

    def edit_profile(self, body: ProfileEdit) -> Done:
        """Change names and home tunnel."""
        return self._call("PUT", ("/account/profile/user",), body=body)

    def edit_skill(self, entry_id: int | str, body: SkillEdit) -> SkillWritten:
        """Change, sign, deny or withdraw an entry."""
        return self._call("PUT", ("/account/logbook/skills/", entry_id), body=body)

    def edit_time(self, id: int | str, body: TimeEdit) -> Written:
        """Change flight time."""
        return self._call("PUT", ("/account/logbook/time/", id), body=body)

    def end_other_sessions(self) -> Done:
        """Sign out everywhere else."""
        return self._call("DELETE", ("/account/profile/sessions",))

    def end_session(self, session_id: int | str) -> Done:
        """End one session."""
        return self._call("DELETE", ("/account/profile/sessions/", session_id))

    def export_logbook(self, member_id: int | str, *, separator: str | None = None) -> bytes:
        """A member's logbook as CSV."""
        return self._call("GET", ("/account/logbook/export/", member_id), query={"separator": separator})

    def filter_skills(self, member_id: int | str, category: int | str, *, limit: int | None = None, offset: int | None = None) -> list[OpenSkill]:
        """Skills that a member may ask for."""
        return self._call("GET", ("/account/logbook/filter-skills/", member_id, "/", category), query={"limit": limit, "offset": offset}, pages=limit is None)

    def flyer_levels(self, member_id: int | str) -> FlyerLevels:
        """A flyer's levels at a glance."""
        return self._call("GET", ("/account/dashboard/flyer-skills-levels/", member_id))

    def flyer_safety(self, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SafetyEntry]:
        """The flyer safety logbook."""
        return self._call("GET", ("/account/logbook/flyer-safety/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def generate_token(self, body: TokenRequest) -> Token:
        """Exchange a member's PIN for a token, and record a booking."""
        return self._call("POST", ("/external/partner-metrics/op/generate-token",), body=body, signs="body", keyed=True)

    def get_certificate(self, body: CertificateRequest) -> str:
        """Take a certificate home."""
        return self._call("POST", ("/account/profile/get-certificate",), body=body, keyed=True)

    def get_media(self) -> bytes:
        """See the picture."""
        return self._call("GET", ("/account/profile/media",))

    def get_own_booking(self, registration_id: int | str) -> OwnBooking:
        """Read one of your bookings."""
        return self._call("GET", ("/external/partner-metrics/bookings/", registration_id), signs="request")

    def get_partner_user(self, id: int | str) -> OnePartnerUser:
        """Read one user record."""
        return self._call("GET", ("/external/partner-metrics/op/", id), signs="body")

    def get_profile(self) -> Profile:
        """Read the profile."""
        return self._call("GET", ("/account/profile/user",))

    def get_tunnel(self, tunnel_id: int | str, *, limit: int | None = None, offset: int | None = None) -> OneTunnel | list[Tunnel]:
        """A tunnel."""
        return self._call("GET", ("/public/tunnels/", tunnel_id), query={"limit": limit, "offset": offset})

    def get_waiver(self) -> Waiver:
        """Read the waiver that is to be signed."""
        return self._call("GET", ("/account/profile/waiver",))

    def instructor_safety(self, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SafetyEntry]:
        """The instructor safety logbook."""
        return self._call("GET", ("/account/logbook/instructor-safety/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def kiosk_code(self) -> KioskCode:
        """Make a code to sign in at a kiosk."""
        return self._call("POST", ("/account/profile/kiosk-code",), keyed=True)

    def list_certificates(self, *, limit: int | None = None, offset: int | None = None) -> list[Certificate]:
        """Which certificates there are."""
        return self._call("GET", ("/account/profile/certificate-list",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_entry_events(self, entry_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[EntryEvent]:
        """The events of an entry."""
        return self._call("GET", ("/account/logbook/entries/", entry_id, "/events"), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_instructors(self, skill: int | str, tunnel: int | str, *, limit: int | None = None, offset: int | None = None) -> list[Signer]:
        """Who may sign a skill at a tunnel."""
        return self._call("GET", ("/account/logbook/instructors/", skill, "/", tunnel), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_logbook_tunnels(self, *, limit: int | None = None, offset: int | None = None) -> list[LogbookTunnel]:
        """The tunnels that an entry can name."""
        return self._call("GET", ("/account/logbook/tunnels",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_notifications(self, *, limit: int | None = None, offset: int | None = None) -> list[Notice]:
        """The member's notices."""
        return self._call("GET", ("/account/notifications",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_own_bookings(self, *, limit: int | None = None, offset: int | None = None) -> list[Booking]:
        """List your bookings."""
        return self._call("GET", ("/external/partner-metrics/bookings",), query={"limit": limit, "offset": offset}, signs="request", pages=limit is None)

    def list_partner_users(self, *, limit: int | None = None, offset: int | None = None) -> list[PartnerUser]:
        """List your user records."""
        return self._call("GET", ("/external/partner-metrics/op",), query={"limit": limit, "offset": offset}, signs="body", pages=limit is None)

    def list_passkeys(self, *, limit: int | None = None, offset: int | None = None) -> list[Passkey]:
        """The member's passkeys."""
        return self._call("GET", ("/account/profile/passkeys",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_programmes(self, *, limit: int | None = None, offset: int | None = None) -> list[Programme]:
        """The catalogue of skills."""
        return self._call("GET", ("/public/skills",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_requests(self, *, limit: int | None = None, offset: int | None = None) -> list[SkillEntry]:
        """Entries that wait for the caller's signature."""
        return self._call("GET", ("/account/logbook/requests",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_sessions(self, *, limit: int | None = None, offset: int | None = None) -> list[Session]:
        """Where the member is signed in."""
        return self._call("GET", ("/account/profile/sessions",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_skills(self, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SkillEntry]:
        """A member's entries."""
        return self._call("GET", ("/account/logbook/mobile/skills/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_skills_by_status(self, status: int | str, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SkillEntry]:
        """A member's entries in some states."""
        return self._call("GET", ("/account/logbook/skills/", status, "/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def list_time(self, id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[TimeEntry]:
        """A member's flight time."""
        return self._call("GET", ("/account/logbook/time/", id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def login(self, body: LoginRequest) -> Login:
        """Sign in by password."""
        return self._call("POST", ("/auth/login",), body=body, keyed=True)

    def login_silent(self, body: Credentials) -> Login:
        """Renew a session."""
        return self._call("POST", ("/auth/login/silent",), body=body, keyed=True)

    def logout(self) -> Done:
        """Sign out."""
        return self._call("POST", ("/auth/logout",), keyed=True)

    def military_safety(self, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SafetyEntry]:
        """The military safety logbook."""
        return self._call("GET", ("/account/logbook/military-safety/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def passkey_options(self, body: PasskeyQuestion) -> PasskeyOptions:
        """Begin with a passkey."""
        return self._call("POST", ("/auth/login/bio-web-option",), body=body, keyed=True)

    def passkey_verify(self, body: PasskeyAnswer) -> Login:
        """Finish with a passkey."""
        return self._call("POST", ("/auth/login/bio-web-verify",), body=body, keyed=True)

    def payment_history(self, *, limit: int | None = None, offset: int | None = None) -> list[Payment]:
        """The member's payments."""
        return self._call("GET", ("/account/profile/payment-history",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def print_logbook(self, member_id: int | str) -> bytes:
        """A member's logbook on paper."""
        return self._call("GET", ("/account/logbook/print/", member_id))

    def progression(self, member_id: int | str) -> bytes:
        """A member's progression as a picture."""
        return self._call("GET", ("/account/logbook/progression/", member_id))

    def read_notification(self, notification_id: int | str) -> Done:
        """Mark a notice read."""
        return self._call("PUT", ("/account/notifications/read/", notification_id))

    def reauthenticate(self, body: Reauthentication) -> Done:
        """Prove the identity again."""
        return self._call("POST", ("/account/profile/reauthenticate",), body=body, keyed=True)

    def recover_password(self, body: AccountAccess) -> Done:
        """Set a forgotten password."""
        return self._call("POST", ("/auth/account-access/recover-password",), body=body, keyed=True)

    def recover_username(self, body: UsernameRequest) -> RecoveredUsername | Done:
        """Recover a forgotten username."""
        return self._call("POST", ("/auth/account-access/recover-username",), body=body, keyed=True)

    def recovery_questions(self, *, username: str | None = None, limit: int | None = None, offset: int | None = None) -> list[RecoveryQuestionListRow]:
        """Which questions to answer."""
        return self._call("GET", ("/auth/account-access/security-questions",), query={"username": username, "limit": limit, "offset": offset}, pages=limit is None)

    def reinstate_entry(self, entry_id: int | str, body: dict[str, Any] | None = None) -> SkillWritten:
        """Put a suspended entry in force again."""
        return self._call("POST", ("/account/logbook/entries/", entry_id, "/reinstate"), body=body, keyed=True)

    def remove_media(self) -> Done:
        """Remove the picture."""
        return self._call("POST", ("/account/profile/remove-media",), keyed=True)

    def report_bookings(self, body: ReportRequest) -> BookingList:
        """Bookings of all partners."""
        return self._call("POST", ("/admin/reports/external/partner-metrics/bookings",), body=body, keyed=True)

    def report_history(self, body: ReportRequest) -> HistoryList:
        """What the partners did, and what became of their bookings."""
        return self._call("POST", ("/admin/reports/external/partner-metrics/history",), body=body, keyed=True)

    def resend_verify_email(self, body: EmailToken) -> Done:
        """Have a new confirmation token sent."""
        return self._call("POST", ("/auth/verify-email/resend",), body=body, keyed=True)

    def security_questions(self, *, limit: int | None = None, offset: int | None = None) -> list[SecurityQuestion]:
        """The catalogue of security questions."""
        return self._call("GET", ("/account/profile/security-questions",), query={"limit": limit, "offset": offset}, pages=limit is None)

    def send_verification_passcode(self, body: PasscodeRequest) -> Done:
        """Have a passcode sent to a new address or number."""
        return self._call("POST", ("/account/profile/send-verification-passcode",), body=body, keyed=True)

    def sign_entry(self, entry_id: int | str, body: Signature) -> SkillWritten:
        """Sign an entry."""
        return self._call("POST", ("/account/logbook/entries/", entry_id, "/sign"), body=body, keyed=True)

    def sign_waiver(self, body: WaiverSignature) -> WaiverSigned:
        """Sign the waiver."""
        return self._call("POST", ("/account/profile/waiver",), body=body, keyed=True)

    def signup(self, body: SignupRequest) -> Signup:
        """Become a member."""
        return self._call("POST", ("/auth/signup",), body=body, keyed=True)

    def social_sign_in(self, body: SocialSignIn) -> Login:
        """Sign in by Google, Apple or Facebook."""
        return self._call("POST", ("/auth/social",), body=body, keyed=True)

    def suspend_entry(self, entry_id: int | str, body: dict[str, Any] | None = None) -> SkillWritten:
        """Suspend a signed entry."""
        return self._call("POST", ("/account/logbook/entries/", entry_id, "/suspend"), body=body, keyed=True)

    def totp_setup(self, body: TotpSetupRequest) -> TotpSetup | Login:
        """Set up an authenticator app."""
        return self._call("POST", ("/auth/login/totp/setup",), body=body, keyed=True)

    def totp_verify_setup(self, body: TotpProof) -> TotpTurnedOn | Login:
        """Turn the authenticator app on."""
        return self._call("POST", ("/auth/login/totp/verify-setup",), body=body, keyed=True)

    def trainer_safety(self, member_id: int | str, *, limit: int | None = None, offset: int | None = None) -> list[SafetyEntry]:
        """The trainer safety logbook."""
        return self._call("GET", ("/account/logbook/trainer-safety/", member_id), query={"limit": limit, "offset": offset}, pages=limit is None)

    def translations(self, *, language: str | None = None) -> Translations:
        """The product's texts."""
        return self._call("GET", ("/public/translations",), query={"language": language})

    def two_factor_operation(self, body: FactorRequest) -> Factor:
        """See, turn on or off the second factor."""
        return self._call("POST", ("/account/profile/2fa-operation",), body=body, keyed=True)

    def upload_media(self, body: bytes, content_type: str) -> UploadMediaAnswer:
        """Bring a picture."""
        return self._call("POST", ("/account/profile/media",), body=body, content_type=content_type, keyed=True)

    def verify_email(self, body: EmailToken) -> Done:
        """Confirm an e-mail address."""
        return self._call("POST", ("/auth/verify-email",), body=body, keyed=True)

    def verify_totp(self, body: TotpProof) -> Login:
        """The second step of a sign-in."""
        return self._call("POST", ("/auth/login/verify-totp",), body=body, keyed=True)

    def verify_verification_passcode(self, body: PasscodeProof) -> Done:
        """Take over the new address or number."""
        return self._call("POST", ("/account/profile/verify-verification-passcode",), body=body, keyed=True)
