//! The names of columns as clubs and spreadsheets write them, in the languages of the desk.

use crate::domain::unicode::folded;

/// The other headings of each column, folded and without blanks and marks; those of a column are shared by all lists that
/// have it. A word that two columns could mean is in none.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "username",
        &[
            "user",
            "login",
            "benutzername",
            "benutzer",
            "nomdutilisateur",
            "identifiant",
            "usuario",
            "nombredeusuario",
            "nomeutente",
            "utente",
        ],
    ),
    (
        "real_name",
        &[
            "name",
            "fullname",
            "vorundnachname",
            "vollername",
            "nomcomplet",
            "nombrecompleto",
            "nombreyapellidos",
            "nomecompleto",
            "nomeecognome",
        ],
    ),
    (
        "screen_name",
        &["nickname", "displayname", "anzeigename", "spitzname", "pseudo", "surnom", "apodo", "soprannome"],
    ),
    (
        "email",
        &[
            "mail",
            "emailaddress",
            "emailadresse",
            "mailadresse",
            "courriel",
            "adressemail",
            "adresseemail",
            "correo",
            "correoelectronico",
            "indirizzoemail",
            "postaelettronica",
        ],
    ),
    (
        "phone",
        &[
            "telephone",
            "mobile",
            "cell",
            "telefon",
            "telefonnummer",
            "mobil",
            "handy",
            "portable",
            "telefono",
            "movil",
            "cellulare",
        ],
    ),
    ("country", &["land", "pays", "pais", "paese", "nazione"]),
    (
        "dob",
        &[
            "birthday",
            "birthdate",
            "dateofbirth",
            "born",
            "geburtsdatum",
            "geburtstag",
            "geboren",
            "datedenaissance",
            "naissance",
            "fechadenacimiento",
            "nacimiento",
            "datadinascita",
            "nascita",
        ],
    ),
    ("role", &["rolle", "rol", "ruolo"]),
    (
        "paid_until",
        &["paidto", "memberuntil", "bezahltbis", "mitgliedbis", "payejusquau", "pagadohasta", "pagatofinoal"],
    ),
    (
        "join_date",
        &[
            "joined",
            "membersince",
            "eintritt",
            "eintrittsdatum",
            "mitgliedseit",
            "dateadhesion",
            "dateinscription",
            "adhesion",
            "fechadealta",
            "alta",
            "dataiscrizione",
            "iscrizione",
        ],
    ),
    ("language", &["sprache", "langue", "idioma", "lingua"]),
    ("kind", &["type", "art", "typ", "genre", "tipo"]),
    ("entry_date", &["date", "datum", "fecha", "data"]),
    ("minutes", &["minuten", "minutos", "minuti", "duration", "dauer", "duree", "duracion", "durata"]),
    ("skill", &["fertigkeit", "figur", "competence", "habilidad", "abilita"]),
    ("instructor", &["coach", "lehrer", "fluglehrer", "moniteur", "instructeur", "instructora", "istruttore"]),
    ("comment", &["note", "remark", "bemerkung", "kommentar", "commentaire", "remarque", "comentario", "commento"]),
    (
        "flight_date",
        &["flight", "flug", "flugdatum", "flugtag", "datedevol", "vol", "fechadevuelo", "vuelo", "datadivolo", "volo"],
    ),
    (
        "minutes_booked",
        &["minutes", "minuten", "minutos", "minuti", "duration", "dauer", "duree", "duracion", "durata"],
    ),
];

/// A part of a name, in a language where the word alone is not the whole name.
const PARTS_OF_NAMES: &[&str] = &[
    "firstname",
    "lastname",
    "givenname",
    "familyname",
    "surname",
    "vorname",
    "nachname",
    "familienname",
    "prenom",
    "nom",
    "nomdefamille",
    "nombre",
    "apellido",
    "apellidos",
    "nome",
    "cognome",
];

/// Whether a heading is of a part of a name: lists have whole names.
pub(super) fn is_part_of_name(heading: &str) -> bool {
    PARTS_OF_NAMES.contains(&plain(heading).as_str())
}

fn plain(heading: &str) -> String {
    folded(heading).chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Whether a heading means a column.
pub(super) fn means(heading: &str, column: &str) -> bool {
    let plain = plain(heading);
    let others = HEADINGS.iter().find(|(name, _)| *name == column).map_or(&[][..], |(_, others)| others);
    plain == column.replace('_', "") || others.contains(&plain.as_str())
}
