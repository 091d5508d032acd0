//! The second factor from inside a session.

use crate::app::{self, Change, SubjectAccount, credentials};
use crate::auth::second_factor::{self, Proof, RequiredCode, Requirement};
use crate::auth::{Member, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Code, Name, Named};
use crate::http::reply;
use crate::i18n::language::{Text, TextKey};
use crate::site::Site;
use crate::store::tables::second_factors::{self, Factor, Kind};
use serde::{Deserialize, Serialize};

/// `status` and `message` are the contract's, both text; the other fields are ours.
#[derive(Serialize)]
struct FactorReply {
    /// `enabled` or `disabled`, after the operation.
    status: &'static str,
    message: String,
    /// `totp`, `passcode` or nothing.
    method: &'static str,
    recovery_codes_left: i64,
    /// New codes, shown once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recovery_codes: Vec<String>,
}

/// What an operation came to. A wrong code is an outcome, so that its failed attempt is committed.
#[derive(Serialize, Deserialize)]
enum Outcome {
    Stands {
        /// The factor that is on.
        kind: Option<Kind>,
        message: TextKey,
        recovery_codes_left: i64,
        recovery_codes: Vec<String>,
    },
    Refused(TextKey),
}

#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Status,
    Enable,
    Disable,
    RecoveryCodes,
    /// Ours: has the passcode sent that `disable` and `recovery-codes` require.
    SendPasscode,
}

impl Named for Operation {
    const NAMES: &'static [(&'static str, Operation)] = &[
        ("status", Operation::Status),
        ("enable", Operation::Enable),
        ("disable", Operation::Disable),
        ("recovery-codes", Operation::RecoveryCodes),
        ("send-passcode", Operation::SendPasscode),
    ];
}

crate::body! {
    pub(crate) struct FactorRequest {
        operation: Name<Operation>,
        /// Ours: for `disable` and `recovery-codes`.
        code: Option<Code>,
    }
}

/// `POST /account/profile/2fa-operation`: shows the member's second factor, turns it on or off, makes recovery codes.
pub(crate) fn operate(site: &Site, call: &Call, member: &Member) -> Answer {
    let FactorRequest { operation, code } = call.body()?;
    let outcome = app::change_once(site, call, member, |cx| {
        let account = cx.own()?;
        let factor = second_factors::find(cx.tx, account.member_id, cx.now())?;
        let code = code.as_deref();
        let this = Request { site, call, cx, member, account: &account, factor: &factor, code };
        match operation {
            Operation::Status => this.status(),
            Operation::Enable => this.enable(),
            Operation::Disable => this.disable(),
            Operation::RecoveryCodes => this.recovery_codes(),
            Operation::SendPasscode => this.send_passcode(),
        }
    })?;
    match outcome {
        Outcome::Stands { kind, message, recovery_codes_left, recovery_codes } => Ok(reply::ok(&FactorReply {
            status: if kind.is_some() { "enabled" } else { "disabled" },
            message: call.say(message.name()),
            method: kind.map_or("", Kind::name),
            recovery_codes_left,
            recovery_codes,
        })),
        Outcome::Refused(key) => Err(Failure::field("code", key.into())),
    }
}

/// A request with the rows that it concerns.
struct Request<'a> {
    site: &'a Site,
    call: &'a Call,
    cx: &'a Change<'a>,
    member: &'a Member,
    account: &'a SubjectAccount,
    factor: &'a Factor,
    code: Option<&'a str>,
}

impl Request<'_> {
    fn status(&self) -> Result<Outcome, Failure> {
        let text = match self.factor.kind {
            None => "factor.is_off",
            Some(Kind::Totp) => "factor.is_totp",
            Some(Kind::Passcode) => "factor.is_passcode",
        };
        self.answer(self.factor.kind, text, Vec::new())
    }

    /// Turns on passcodes. An authenticator is turned on by `totp/setup` and `totp/verify-setup`.
    fn enable(&self) -> Result<Outcome, Failure> {
        if self.factor.kind.is_some() {
            return self.status();
        }
        self.member.check_proven(self.cx.now())?;
        if !second_factor::takes_passcodes(self.account) {
            return Err(Failure::second_factor_required().saying(Text::new("factor.staff_app")));
        }
        let codes = credentials::turn_on_passcodes(self.cx, self.account, self.member.session())?;
        self.answer(Some(Kind::Passcode), "factor.turned_on", codes)
    }

    fn disable(&self) -> Result<Outcome, Failure> {
        if self.factor.kind.is_none() {
            return self.status();
        }
        if second_factor::is_required(self.site, self.account) {
            return Err(Failure::second_factor_required());
        }
        self.proven(|| {
            credentials::turn_off_second_factor(self.cx, self.account, Some(self.member.session()))?;
            self.answer(None, "factor.turned_off", Vec::new())
        })
    }

    fn recovery_codes(&self) -> Result<Outcome, Failure> {
        if self.factor.kind.is_none() {
            return Err(Failure::second_factor_off());
        }
        self.proven(|| {
            let codes = credentials::renew_recovery_codes(self.cx, self.account)?;
            self.answer(self.factor.kind, "factor.new_recovery_codes", codes)
        })
    }

    fn send_passcode(&self) -> Result<Outcome, Failure> {
        match second_factor::requirement(self.site, self.cx.tx, self.account, None)? {
            Requirement::Code(RequiredCode::Passcode(Some(to))) => {
                second_factor::send(self.site, self.call, self.cx.tx, self.account.member_id, &to)?;
                self.answer(self.factor.kind, "passcode.sent", Vec::new())
            }
            Requirement::Code(RequiredCode::Passcode(None)) => Err(Failure::nothing_confirmed()),
            Requirement::Code(RequiredCode::Totp) => self.answer(self.factor.kind, "factor.totp_due", Vec::new()),
            Requirement::Passed(_) | Requirement::SetupMissing => Err(Failure::second_factor_off()),
        }
    }

    /// Runs the effect if `code` proves the factor that is on.
    fn proven(&self, effect: impl FnOnce() -> Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        let code = self.code.ok_or_else(|| Failure::field("code", Text::new("field.code_of_factor")))?;
        sign_in::check_not_delayed(self.site, self.call, self.cx.tx, self.account)?;
        let prove = || second_factor::prove(self.site, self.call, self.cx.tx, self.account, code);
        match sign_in::check_code(self.site, self.call, self.cx.tx, self.account, prove)? {
            Proof::Right(_) => effect(),
            Proof::Wrong | Proof::Delayed(_) => Ok(Outcome::Refused("field.wrong_code".into())),
            Proof::Unusable(why) => Ok(Outcome::Refused(why.into())),
        }
    }

    fn answer(
        &self,
        kind: Option<Kind>,
        message: &'static str,
        recovery_codes: Vec<String>,
    ) -> Result<Outcome, Failure> {
        if !recovery_codes.is_empty() {
            self.call.shows_credentials_of(self.account.member_id);
        }
        let recovery_codes_left = second_factors::count_recovery_codes(self.cx.tx, self.account.member_id)?;
        Ok(Outcome::Stands { kind, message: message.into(), recovery_codes_left, recovery_codes })
    }
}
