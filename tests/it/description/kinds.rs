//! The kinds of fields compared with the description: a kind accepts the values that its schema allows.

use crate::harness::description::DESCRIPTION;
use serde_json::{Value, json};
use tunneldesk::api::description::name_types;
use tunneldesk::auth::second_factor::FactorMethod;
use tunneldesk::http::body::Field;
use tunneldesk::http::field_types::*;
use tunneldesk::moment::Moment;
use tunneldesk::routes::ROUTES;

/// Values that some kind accepts and another refuses. None is blank, because kinds are not given blank values.
fn values() -> Vec<Value> {
    let texts = [
        "7",
        "+7",
        "007",
        " 7 ",
        "7.0",
        "7.00",
        "7.5",
        "-7",
        "0",
        "500",
        "501",
        "600",
        "601",
        "60001",
        "12",
        "13",
        "999999",
        "1000000",
        "1780000000",
        "1780000000.5",
        "1780000000000",
        "99999999999",
        "tomorrow",
        "1:05",
        "0:00",
        "00:01",
        "10:00",
        "10:01",
        "1:60",
        "true",
        "false",
        "1",
        "yes",
        "a b",
        "  a b  ",
        "a\nb",
        "a\r\nb",
        "a\tb",
        "a\u{7}b",
        "ab",
        "Jane\u{202e}eoD\u{200d}e",
        "a\u{2028}b",
        "a\u{2029}",
        "jane\u{200b}@example.com",
        "a.b-c_9",
        "a b c",
        "jane@example.com",
        " Jane.Doe+x@mail.example.co.uk ",
        "a@b",
        "@example.com",
        "email",
        "sms",
        "totp",
        "EMAIL",
        "12345678",
        "123456789",
    ];
    let numbers = [
        json!(0),
        json!(1),
        json!(-1),
        json!(7.0),
        json!(7.5),
        json!(12),
        json!(13),
        json!(500),
        json!(501),
        json!(600),
        json!(601),
        json!(999_999),
        json!(1_000_000),
        json!(99_999_999),
        json!(100_000_000),
        json!(1_780_000_000),
        json!(1_780_000_000_000_i64),
        json!(1_780_000_000.5),
        json!(99_999_999_999_i64),
        json!(1e300),
        json!(i64::MAX),
    ];
    let others = [json!(true), json!(false), json!([]), json!(["7"]), json!({}), json!({ "a": 7 })];
    let long = [40, 41, 254, 255, 1024, 1025].map(|chars| json!("x".repeat(chars)));
    texts.into_iter().map(Value::from).chain(numbers).chain(others).chain(long).collect()
}

/// The values on which the schema and the kind disagree.
fn disagree<F: Field>(kind: &str) -> Vec<String> {
    let differs = |value: &Value| F::read(value).is_ok() != DESCRIPTION.problems(&F::schema(), value).is_empty();
    values().into_iter().filter(differs).map(|value| format!("{kind} of {value}")).collect()
}

#[test]
fn what_a_kind_reads_is_what_its_schema_allows() {
    let disagreements = [
        disagree::<Whole>("Whole"),
        disagree::<Count>("Count"),
        disagree::<Id>("Id"),
        disagree::<Rows<500>>("Rows"),
        disagree::<Moment>("Moment"),
        disagree::<FlightMinutes>("FlightMinutes"),
        disagree::<EntryMinutes>("EntryMinutes"),
        disagree::<Flag>("Flag"),
        disagree::<Line<254>>("Line"),
        disagree::<Lines<1024>>("Lines"),
        disagree::<Secret>("Secret"),
        disagree::<Code>("Code"),
        disagree::<Digits<40>>("Digits"),
        disagree::<Passcode>("Passcode"),
        disagree::<QuestionNumber>("QuestionNumber"),
        disagree::<Email>("Email"),
        disagree::<Name<FactorMethod>>("Name"),
    ]
    .concat();
    assert!(disagreements.is_empty(), "{disagreements:#?}");
}

/// A schema cannot count the digits of a number: of numbers, the schema of a short line allows fewer than the kind
/// accepts, and that of a username more. For text they agree.
#[test]
fn what_a_schema_says_of_text_is_read_so_where_it_cannot_say_it_of_numbers() {
    let disagreements = [disagree::<ShortLine<8>>("ShortLine"), disagree::<Username>("Username")].concat();
    let of_text: Vec<_> = disagreements.iter().filter(|one| one.ends_with('"')).collect();
    assert!(of_text.is_empty(), "{of_text:#?}");
    for value in values().iter().filter(|value| DESCRIPTION.problems(&ShortLine::<8>::schema(), value).is_empty()) {
        assert!(ShortLine::<8>::read(value).is_ok(), "{value}");
    }
}

/// Asserts that each row declares the body whose schema the description gives for the operation.
#[test]
fn a_declared_body_is_the_described_one() {
    let mut seen = 0;
    for (route, body) in ROUTES.iter().filter_map(|route| Some((route, route.body?))) {
        let operation = DESCRIPTION.operations.iter().find(|one| one.describes(route)).unwrap();
        for media in operation.value["requestBody"]["content"].as_object().unwrap().values() {
            let mut declared = (body.schema)();
            name_types(&mut declared);
            assert_eq!(DESCRIPTION.resolve(&media["schema"]), &declared, "{} {}", route.method, route.path);
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen} bodies are declared");
}
