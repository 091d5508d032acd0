//! The names of columns as clubs and spreadsheets write them, in the languages of the desk.

use crate::domain::unicode::folded;

/// The other headings of each column, folded and without blanks and marks; those of a column are shared by all lists that
/// have it. A word that two columns could mean is in none.
const HEADINGS: &[(&str, &str)] = &[
    (
        "username",
        "user login benutzername benutzer nomdutilisateur identifiant usuario nombredeusuario nomeutente utente \
         loginname mitgliedsname mitgliedname",
    ),
    (
        "real_name",
        "name fullname vorundnachname vollername nomcomplet nombrecompleto nombreyapellidos nomecompleto \
         nomeecognome vornamenachname vornameundnachname prenomnom prenometnom nombreapellidos nomecognome \
         nameandsurname firstandlastname membername",
    ),
    ("screen_name", "nickname displayname anzeigename spitzname pseudo surnom apodo soprannome"),
    (
        "email",
        "mail emailaddress emailadresse mailadresse courriel adressemail adresseemail correo correoelectronico \
         indirizzoemail postaelettronica eposta mailaddress adresseelectronique correoe direccionemail \
         direcciondecorreo indirizzomail indirizzodiposta",
    ),
    (
        "phone",
        "telephone mobile cell telefon telefonnummer mobil handy portable telefono movil cellulare phonenumber \
         telephonenumber mobilephone cellphone mobilenumber tel telnr telefonnr natel mobiltelefon mobilnummer \
         handynummer telportable numerodetelephone telephoneportable numerodetelefono telefonomovil \
         numeroditelefono telefonocellulare",
    ),
    (
        "country_code",
        "callingcode dialcode dialingcode phonecode vorwahl landesvorwahl landervorwahl indicatif indicatifpays \
         prefijo prefijotelefonico prefisso prefissotelefonico",
    ),
    (
        "country",
        "land pays pais paese nazione countryofresidence staat wohnsitzland nation paisderesidencia \
         paesediresidenza",
    ),
    (
        "dob",
        "birthday birthdate dateofbirth born geburtsdatum geburtstag geboren datedenaissance naissance \
         fechadenacimiento nacimiento datadinascita nascita dateborn bday gebdatum gebtag geb gebam geborenam \
         geburtsdat datenaissance nele neele fnacimiento fechanacimiento nacidoel fechadenac natoil natail \
         natoail datanascita",
    ),
    (
        "tunnel",
        "hall windtunnel anlage halle windkanal soufflerie tunneldevent tunel tuneldeviento galleria \
         galleriadelvento",
    ),
    ("role", "rolle rol ruolo"),
    (
        "paid_until",
        "paidto memberuntil bezahltbis mitgliedbis payejusquau pagadohasta pagatofinoal paidthrough paidtill \
         validuntil validto validthrough expires expiry expirydate expirationdate expireson membershipexpires \
         membershipuntil membershipexpiry gultigbis gueltigbis bezahltbiszum mitgliedschaftbis beitragbis \
         beitragbezahltbis ablauf ablaufdatum lauftab valablejusquau validejusquau expirele echeance \
         datedexpiration cotisationjusquau validohasta vigentehasta caduca caducidad fechadecaducidad vencimiento \
         validofinoal validofino scadenza datadiscadenza scadeil",
    ),
    (
        "join_date",
        "joined membersince eintritt eintrittsdatum mitgliedseit dateadhesion dateinscription adhesion \
         fechadealta alta dataiscrizione iscrizione joindate datejoined joinedon beitritt beitrittsdatum \
         dabeiseit membredepuis datedadhesion datedinscription inscritle sociodesde miembrodesde \
         fechadeinscripcion inscripcion sociodal membrodal datadiiscrizione iscrittoil",
    ),
    (
        "banned_at",
        "banned bannedsince gesperrt gesperrtseit sperre banni bannidepuis bloqueado bloqueadodesde bloccato \
         bloccatodal",
    ),
    ("language", "sprache langue idioma lingua"),
    ("kind", "type art typ genre tipo entrytype entrykind eintragsart naturedelentree clase"),
    (
        "entry_date",
        "date datum fecha data day flownon flightdate tag flugdatum flugtag jour datedevol dia fechadevuelo \
         giorno datadivolo",
    ),
    (
        "minutes",
        "minuten minutos minuti duration dauer duree duracion durata min mins flighttime flugzeit flugminuten \
         tempsdevol tiempodevuelo tempodivolo",
    ),
    ("skill", "fertigkeit figur competence habilidad abilita"),
    ("instructor", "coach lehrer fluglehrer moniteur instructeur instructora istruttore"),
    (
        "approval_date",
        "signedon approvedon unterschriebenam unterschrieben signele datedesignature firmadoel fechadefirma \
         firmatoil datadifirma",
    ),
    (
        "comment",
        "note remark bemerkung kommentar commentaire remarque comentario commento notes remarks comments \
         bemerkungen notiz notizen kommentare commentaires remarques comentarios observaciones nota commenti \
         osservazioni",
    ),
    ("client_id", "partner partnerid partenaire"),
    (
        "registration_id",
        "registration registrationnumber bookingnumber buchungsnummer anmeldenummer numerodereservation \
         numerodereserva numerodiprenotazione",
    ),
    ("purchase_date", "purchased purchasedon kaufdatum gekauftam datedachat fechadecompra datadacquisto"),
    ("flight_date", "flight flug flugdatum flugtag datedevol vol fechadevuelo vuelo datadivolo volo"),
    (
        "minutes_booked",
        "minutes minuten minutos minuti duration dauer duree duracion durata min mins flighttime flugzeit \
         flugminuten tempsdevol tiempodevuelo tempodivolo",
    ),
    ("product_id", "product productnumber produkt produktnummer produit producto prodotto"),
    ("tunnel_id", "tunnel tunnelnumber tunnelnummer"),
];

/// A part of a name, in a language where the word alone is not the whole name; or a whole name whose parts stand the other way.
const PARTS_OF_NAMES: &str = "firstname lastname givenname familyname surname vorname nachname familienname prenom nom nomdefamille \
     nombre apellido apellidos nome cognome forename givennames vornamen zuname primernombre primerapellido \
     segundoapellido namevorname nachnamevorname vornamename nomprenom nometprenom apellidosnombre \
     apellidosynombre cognomenome cognomeenome lastnamefirstname";

/// Whether a heading is of a part of a name: lists have whole names.
pub(super) fn is_part_of_name(heading: &str) -> bool {
    has(PARTS_OF_NAMES, &plain(heading))
}

fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

fn plain(heading: &str) -> String {
    folded(heading).chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Whether a heading means a column; what it explains in brackets behind a blank does not matter.
pub(super) fn means(heading: &str, column: &str) -> bool {
    let others = HEADINGS.iter().find(|(name, _)| *name == column).map_or("", |(_, others)| others);
    let is_known = |plain: &str| plain == column.replace('_', "") || has(others, plain);
    is_known(&plain(heading)) || heading.split_once(" (").is_some_and(|(name, _)| is_known(&plain(name)))
}
