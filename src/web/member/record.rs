//! An instructor records one session for several students: numbers, skill and day first, then the names that these are and one
//! proof for all.

use super::frame::Shell;
use super::{show, signing};
use crate::app;
use crate::app::logbook::rules::{Recordable, Request, list_signable};
use crate::app::logbook::{COMMENT_CHARS_MAX, requests};
use crate::auth::{Member, own, sign_in};
use crate::domain::catalogue::names;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::{joins, members};
use crate::web::form_state::{FormState, value};
use crate::web::{all_problems, form, form_pairs, form_status};
use askama::Template;
use std::cell::Cell;

/// Students under one proof.
const STUDENTS_MAX: usize = 20;
const NUMBERS_CHARS_MAX: usize = 300;
const SKILL_CHARS_MAX: usize = 20;

#[derive(Template)]
#[template(path = "member/record.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    form: FormState,
    groups: Vec<Group>,
    date: String,
    today: String,
    /// The students whom the numbers are, and the name of the skill, once they are known: the page then asks for the password.
    students: Vec<Student>,
    skill_name: String,
}

/// The skills of a level.
struct Group {
    name: String,
    /// Number and name.
    skills: Vec<(&'static str, &'static str)>,
}

struct Student {
    member_id: i64,
    name: String,
}

impl Page {
    fn is_chosen(&self, skill: &str) -> bool {
        self.form.typed("skill") == skill
    }

    fn problems(&self) -> Vec<&str> {
        self.form.other_problems(&[]).collect()
    }
}

/// What the form says.
struct Session {
    /// Numbers of the students, each once.
    students: Vec<i64>,
    skill: &'static str,
    date: String,
    moment: i64,
    comment: String,
    /// Empty where it is not asked for yet.
    password: String,
}

/// `GET /me/signing/record`
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, FormState::empty(), Vec::new())
}

fn signable(site: &Site, member: &Member) -> Result<Vec<Recordable>, Failure> {
    site.store.read(|tx| list_signable(site, tx, member.id(), site.now()))
}

fn page(site: &Site, call: &Call, member: &Member, form: FormState, students: Vec<Student>) -> Answer {
    let shell = Shell::of(site, call, member, own::HOME)?;
    let language = call.language();
    let mut groups: Vec<Group> = Vec::new();
    let mut skill_name = String::new();
    for one in signable(site, member)? {
        let name =
            one.level.map_or_else(|| shell.say("me.kind_safety"), |level| names::say(language, &level.name).into());
        let skill = (one.skill, names::say(language, one.name));
        if one.skill == form.typed("skill") {
            skill_name = skill.1.to_owned();
        }
        match groups.last_mut() {
            Some(last) if last.name == name => last.skills.push(skill),
            _ => groups.push(Group { name, skills: vec![skill] }),
        }
    }
    let today = site.time_zone()?.date(site.now());
    let typed = form.typed("date").to_owned();
    let status = form_status(form.has_problems());
    let page = Page {
        shell,
        groups,
        date: if typed.is_empty() { today.clone() } else { typed },
        today,
        students,
        skill_name,
        form,
    };
    Ok(show(status, language, &page))
}

/// `POST /me/signing/record`: shows whom the numbers name, and with the password records the skill for all of them or for none.
pub(crate) fn record(site: &Site, call: &Call, member: &Member) -> Answer {
    let sent = form_pairs(call)?;
    let refused = |failure: Failure, students: Vec<Student>| {
        FormState::refused(sent.clone(), failure, call, call.language(), |form| {
            page(site, call, member, form, students)
        })
    };
    let read = read(site, call, member).and_then(|session| Ok((find_students(site, &session)?, session)));
    let (students, session) = match read {
        Ok(read) => read,
        Err(failure) => return refused(failure, Vec::new()),
    };
    if session.password.is_empty() {
        return page(site, call, member, FormState::sent(sent.clone()), students);
    }
    let number = value(&sent, "number").parse().ok();
    match carry_out(site, call, member, number, &session, &students) {
        Ok(()) => Ok(reply::see_other(&format!("{}?done=recorded", signing::PATH))),
        Err(failure) => refused(failure, students),
    }
}

/// The fields of the form; 422 with every mistake, 403 for somebody who may not sign the skill.
fn read(site: &Site, call: &Call, member: &Member) -> Result<Session, Failure> {
    let (zone, now) = (site.time_zone()?, site.now());
    let mut form = form(call)?;
    let numbers = form.required("students", fields::lines(NUMBERS_CHARS_MAX));
    let mut students: Vec<i64> = Vec::new();
    for number in numbers.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|text| !text.is_empty()) {
        match number.parse::<i64>() {
            Ok(number) if number > 0 => students.extend((!students.contains(&number)).then_some(number)),
            _ => form.0.refuse("students", Text::new("me.no_number").with("typed", number)),
        }
    }
    if students.len() > STUDENTS_MAX {
        form.0.refuse("students", Text::new("me.students_max").with("max", STUDENTS_MAX as i64));
    }
    let skill = form.line("skill", SKILL_CHARS_MAX);
    let known = signable(site, member)?.into_iter().find(|one| one.skill == skill);
    if known.is_none() {
        form.0.refuse("skill", Text::new("me.skill_choose"));
    }
    let date = form.line("date", 20);
    let moment = zone.entry_moment(now, &date);
    if moment.is_none() {
        form.0.refuse("date", Text::new("me.date_wrong"));
    }
    let comment = form.lines("comment", COMMENT_CHARS_MAX);
    let password = form.optional("password", fields::secret).unwrap_or_default();
    form.finish()?;
    let skill = known.ok_or_else(Failure::not_allowed)?.skill;
    Ok(Session { students, skill, date, moment: moment.unwrap_or(now), comment, password })
}

/// The members whom the numbers name; 422 that tells a number that nobody has.
fn find_students(site: &Site, session: &Session) -> Result<Vec<Student>, Failure> {
    site.store.read(|tx| {
        let mut students = Vec::new();
        for number in &session.students {
            let found = members::find(tx, joins::survivor_of(tx, *number)?)?;
            let unknown = || Failure::field("students", Text::new("me.nobody_has").with("number", *number));
            let profile = found.ok_or_else(unknown)?;
            // A number is no way to somebody's real name.
            let name = if profile.screen_name.is_empty() { profile.username } else { profile.screen_name };
            students.push(Student { member_id: profile.member_id, name });
        }
        Ok(students)
    })
}

fn carry_out(
    site: &Site,
    call: &Call,
    member: &Member,
    number: Option<i64>,
    session: &Session,
    students: &[Student],
) -> Result<(), Failure> {
    let proven = sign_in::check_own_password(site, call, member.id(), &session.password)?.at("password")?;
    let numbers: Vec<String> = students.iter().map(|one| one.member_id.to_string()).collect();
    let content =
        format!("{} {} {} {} {}", member.id(), session.skill, session.date, numbers.join(" "), session.comment);
    let at: Cell<Option<&Student>> = Cell::new(None);
    let recorded = app::change(site, member, call.language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "password")?;
        if !cx.is_first_sending_of(number, &content)? {
            return Ok(());
        }
        for student in students {
            at.set(Some(student));
            let request = Request {
                skill: session.skill.to_owned(),
                entry_date: session.moment,
                minutes: 0,
                tunnel_id: site.tunnel_id,
                comment: String::new(),
            };
            requests::record_seen(cx, student.member_id, &request, None, &session.comment)?;
        }
        Ok(())
    });
    recorded.map_err(|failure| match at.get() {
        Some(student) if failure.status().is_client_error() => {
            let why = all_problems(&failure, call.language());
            Failure::field("students", Text::new("me.record_not").with("name", &student.name).with("why", why))
        }
        _ => failure,
    })
}
