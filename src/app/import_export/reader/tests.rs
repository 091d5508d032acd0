//! Lists as spreadsheets save them.

use super::*;

const COLUMNS: &[Column] = &[Column { name: "name", needed: true }, Column { name: "comment", needed: false }];

/// A line's number and its two cells, or its mistakes.
type Line = Result<(u64, String, String), String>;

fn read(bytes: &[u8]) -> Result<Vec<Line>, String> {
    let told = |refusal: Refusal| match refusal {
        Refusal::Mistakes(all, _) => all.iter().map(Mistake::to_string).collect::<Vec<_>>().join(" | "),
        Refusal::Unreadable(text) => text.in_english(),
        Refusal::Failed(e) => e.to_string(),
    };
    let mut text = bytes;
    let mut rows = Rows::open(&mut text, COLUMNS).map_err(told)?;
    let rows = rows.take(1_000).map_err(told)?;
    let cell = |row: &Row, name: &str| {
        row.cells
            .iter()
            .find(|(_, known, _)| *known == name)
            .map(|(_, _, text)| text.trim().to_owned())
            .unwrap_or_default()
    };
    let row = |row: Row| (row.line(), cell(&row, "name"), cell(&row, "comment"));
    let wrong = |all: Vec<Mistake>| all.iter().map(Mistake::to_string).collect::<Vec<_>>().join(" | ");
    Ok(rows.into_iter().map(|one| one.map(row).map_err(wrong)).collect())
}

fn good(bytes: &[u8]) -> Vec<(u64, String, String)> {
    read(bytes).unwrap().into_iter().map(Result::unwrap).collect()
}

fn bad(bytes: &[u8]) -> String {
    read(bytes).unwrap_err()
}

#[test]
fn every_spreadsheet_s_way_to_write_a_list_is_read() {
    let same = vec![(2, "Jane".to_owned(), "a, b".to_owned()), (3, "Jörg".to_owned(), String::new())];
    for list in [
        "name,comment\nJane,\"a, b\"\nJörg,\n",
        "\u{feff}name,comment\r\nJane,\"a, b\"\r\nJörg,\r\n",
        "name;comment\r\nJane;a, b\r\nJörg;\r\n",
        "Name\tCOMMENT\nJane\ta, b\nJörg\t",
        "\u{feff} name ;comment\r\n\"Jane\";\"a, b\"\r\nJörg;;;\r\n;;\r\n\r\n",
    ] {
        assert_eq!(good(list.as_bytes()), same, "{list:?}");
    }
    assert_eq!(good(b"\r\n;\r\nname;comment\r\nJane;a, b\r\n"), [(4, "Jane".into(), "a, b".into())]);
    assert_eq!(good(b"sep=;\r\nname;comment\r\nJane;x\r\n"), [(3, "Jane".into(), "x".into())]);
}

#[test]
fn a_line_s_number_is_its_own_also_after_cells_of_several_lines() {
    let rows = good(b"comment,name\r\n\"one\r\ntwo\",Jane\r\n\r\nx,Mark\r\n");
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [2, 5]);
}

#[test]
fn apostrophes_that_kept_a_spreadsheet_from_counting_are_taken_off() {
    assert_eq!(good(b"name,comment\n'=1+1,'t was\n")[0], (2, "=1+1".into(), "'t was".into()));
}

#[test]
fn headings_that_are_unknown_missing_or_there_twice_are_each_named() {
    assert!(bad(b"name,name\n").contains("column 2 (name): This column is there twice"));
    assert!(bad(b"comment\nx\n").contains("There is no column name"));
    assert!(bad(b"nmae,,comment\n").contains("column 1 (nmae)"));
    for empty in ["", "\u{feff}", "\r\n\r\n", ";;;\n;;;\n"] {
        assert_eq!(bad(empty.as_bytes()), "the list is empty", "{empty:?}");
    }
}

#[test]
fn headings_are_known_in_the_languages_of_the_desk() {
    for second in ["Bemerkung", "Remarque", "comentario", "COMMENTO"] {
        let list = format!("Name;{second}\nJane;x\n");
        assert_eq!(good(list.as_bytes()), [(2, "Jane".to_owned(), "x".to_owned())], "{list}");
    }
    for (heading, column) in [
        ("E-Mail", "email"),
        ("Geburtsdatum", "dob"),
        ("Date de naissance", "dob"),
        ("Fecha de nacimiento", "dob"),
        ("Data di nascita", "dob"),
        ("Bezahlt bis", "paid_until"),
        ("Payé jusqu’au", "paid_until"),
        ("Téléphone", "phone"),
        ("Móvil", "phone"),
        ("Real name", "real_name"),
        ("Benutzername", "username"),
        ("Mitgliedsname", "username"),
        ("Geb.-Datum", "dob"),
        ("Geburtsdatum (TT.MM.JJJJ) *", "dob"),
        ("Phone (mobile)", "phone"),
        ("Né(e) le", "dob"),
        ("Nato/a il", "dob"),
        ("F. nacimiento", "dob"),
        ("Gültig bis", "paid_until"),
        ("Valable jusqu'au", "paid_until"),
        ("Fecha de caducidad", "paid_until"),
        ("Scadenza", "paid_until"),
        ("Beitritt", "join_date"),
        ("Membre depuis", "join_date"),
        ("Tel.-Nr.", "phone"),
        ("Vorwahl", "country_code"),
        ("Flugzeit", "minutes"),
        ("Firmado el", "approval_date"),
    ] {
        assert!(headings::means(heading, column), "{heading}");
    }
    for part in
        ["Nachname", "Vorname", "Nom", "Prénom", "Nombre", "Apellidos", "Cognome", "First name", "Nachname, Vorname"]
    {
        assert!(headings::is_part_of_name(part) && !headings::means(part, "real_name"), "{part}");
    }
    assert!(!headings::means("", "dob"));
}

#[test]
fn empty_cells_at_the_end_of_a_line_and_empty_columns_may_be_missing() {
    let same = vec![(2, "Jane".to_owned(), String::new()), (3, "Jörg".to_owned(), "b".to_owned())];
    for list in [
        "name;comment\nJane\nJörg;b\n",
        "name;comment;\nJane;;\nJörg;b;\n",
        "name,,comment,,\nJane\nJörg,,b\n",
        ";name;comment\n;Jane\n ;Jörg;b;;;\n",
    ] {
        assert_eq!(good(list.as_bytes()), same, "{list:?}");
    }
    let rows = read(b"name,,comment\nJane,x,y\n").unwrap();
    let wrong = rows[0].clone().unwrap_err();
    assert!(wrong.starts_with("line 2, column 2 (), \"x\": The column has a cell here and no heading"), "{wrong}");
}

#[test]
fn letters_that_another_encoding_spoiled_are_named_with_what_was_meant() {
    let rows = read("name,comment\nZoÃ« MÃ¼ller,x\nZ\u{fffd}rcher,y\nZoë,z\n".as_bytes()).unwrap();
    let wrong = |place: usize| rows[place].clone().unwrap_err();
    assert!(wrong(0).starts_with("line 2, column 1 (name)") && wrong(0).contains("\"Zoë Müller\""), "{}", wrong(0));
    assert!(wrong(1).starts_with("line 3, column 1 (name)") && wrong(1).contains("lost"), "{}", wrong(1));
    assert!(rows[2].is_ok());
}

#[test]
fn what_is_not_utf_8_is_refused_by_its_place() {
    let rows = read(b"name,comment\nJane,x\nJ\xf6rg,y\n").unwrap();
    assert!(rows[0].is_ok());
    let wrong = rows[1].clone().unwrap_err();
    assert!(wrong.starts_with("line 3, column 1 (name)") && wrong.contains("UTF-8"), "{wrong}");
    assert!(bad(&[0xff, 0xfe, b'n', 0]).contains("UTF-16"));
}

#[test]
fn a_line_of_another_length_and_an_oversized_cell_are_named() {
    let rows = read(format!("name,comment\nJane\na,b,c\n{},x\nMark,y\n", "n".repeat(40_000)).as_bytes()).unwrap();
    let wrong = |place: usize| rows[place].clone().unwrap_err();
    assert_eq!(rows[0], Ok((2, "Jane".into(), String::new())));
    assert!(wrong(1).starts_with("line 3: The line has 3 cells"), "{}", wrong(1));
    assert!(wrong(2).starts_with("line 4, column 1 (name)") && wrong(2).len() < 200, "{}", wrong(2));
    assert!(rows[3].is_ok());
}

#[test]
fn a_quote_that_nobody_closes_does_not_swallow_the_memory() {
    let list = format!("name,comment\nJane,\"open\n{}", "x,y\n".repeat(1_000_000));
    let said = bad(list.as_bytes());
    assert!(said.contains("never closed"), "{said}");
}

#[test]
fn a_quote_that_nobody_closes_is_named_at_its_own_line_and_column() {
    for (list, place) in [
        ("name,comment\nJane,\"open\n", "line 2, column 2 (comment)"),
        ("name,comment\nJane,\"open", "line 2, column 2 (comment)"),
        ("name,comment\r\nJane,x\r\n\r\n\"Mark,y\r\nNora,z\r\n", "line 4, column 1 (name)"),
        ("name,comment\n\"Jane\nJill\",\"open\nMark,y\n\n", "line 3, column 2 (comment)"),
        ("sep=,\nname,comment\nJane,\"\n", "line 3, column 2 (comment)"),
        ("name,\"comment\nJane,x\n", "line 1"),
    ] {
        assert_eq!(bad(list.as_bytes()), format!("{place}: A quote is opened here and never closed."), "{list:?}");
    }
    assert_eq!(good(b"name,comment\nJane,\"closed\n\"")[0].0, 2, "a cell may end with a line feed");
    assert_eq!(good(b"name,comment\nJane,5\" pipe")[0].2, "5\" pipe", "a quote within a cell opens nothing");
}
