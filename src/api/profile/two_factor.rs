//! The second factor from inside a session.

use crate::api::auth::totp::RecoveryCodes;
use crate::app::second_factors::{self as factors, Checked};
use crate::app::{self, Change, SubjectAccount};
use crate::auth::Member;
use crate::auth::second_factor::{self, RequiredCode, Requirement};
use crate::http::Answer;
use crate::http::answer::Sometimes;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Code, Count, Name, Named};
use crate::http::reply;
use crate::i18n::language::{Text, TextKey};
use crate::site::Site;
use crate::store::tables::second_factors::{self, Kind};
use serde::{Deserialize, Serialize};
use serde_json::json;

crate::answer! {
    struct Factor {
        /// As it is afterwards.
        status: &'static str ["enabled", "disabled"] = "enabled",
        message: String = "Signing in takes a code from your authenticator app.",
        /// Ours: which second factor is on.
        method: &'static str ["totp", "passcode", ""] = "totp",
        /// Ours.
        recovery_codes_left: Count = 10,
        recovery_codes: Sometimes<RecoveryCodes>,
    }
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

crate::operation! {
    /// See, turn on or off the second factor
    ///
    /// `status` shows it. `enable` turns sent passcodes on (an authenticator app is turned on by `totp/setup`); for
    /// an account of the desk, of an admin or of a job it is refused (403), because a passcode that is sent is no
    /// second factor there. `disable` and `recovery-codes` (ten new ones) want a code of the factor that is on.
    /// `send-passcode` (ours) has one sent for that.
    OPERATE = "twoFactorOperation"
        .body(|| json!({ "operation": "status" }))
        .refuses(&["SecondFactorOff"])
        .answers::<Factor>("The second factor as it is now.")
}

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
        Outcome::Stands { kind, message, recovery_codes_left, recovery_codes } => Ok(reply::ok(&Factor {
            status: if kind.is_some() { "enabled" } else { "disabled" },
            message: call.say(message.name()),
            method: kind.map_or("", Kind::name),
            recovery_codes_left,
            recovery_codes: Some(recovery_codes).filter(|codes| !codes.is_empty()),
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
    factor: &'a second_factors::Factor,
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
        let codes = factors::turn_on_passcodes(self.cx, self.account, self.member.session())?;
        self.answer(Some(Kind::Passcode), "factor.turned_on", codes)
    }

    fn disable(&self) -> Result<Outcome, Failure> {
        if self.factor.kind.is_none() {
            return self.status();
        }
        match factors::turn_off(self.cx, self.call, self.account, self.member.session(), self.code)? {
            Checked::Passed(()) => self.answer(None, "factor.turned_off", Vec::new()),
            Checked::Refused(problem) => refused(problem),
        }
    }

    fn recovery_codes(&self) -> Result<Outcome, Failure> {
        if self.factor.kind.is_none() {
            return Err(Failure::second_factor_off());
        }
        match factors::renew_codes(self.cx, self.call, self.account, self.code)? {
            Checked::Passed(codes) => self.answer(self.factor.kind, "factor.new_recovery_codes", codes),
            Checked::Refused(problem) => refused(problem),
        }
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

/// A code that did not prove, as an outcome; 422 where none was sent.
fn refused(problem: factors::Problem) -> Result<Outcome, Failure> {
    const MISSING: &str = "field.code_of_factor";
    match problem {
        factors::Problem::Missing => Err(Failure::field("code", Text::new(MISSING))),
        _ => Ok(Outcome::Refused(problem.key(MISSING, "field.wrong_code").into())),
    }
}
