//! A signed waiver on paper.

use crate::app::papers;
use crate::documents::printout::waiver as printout;
use crate::domain::ids::{MemberId, SignatureId};
use crate::domain::local_time::TimeZone;
use crate::domain::waiver::{self, Relation, SigningPlace};
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::hex;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::site_texts::{self, Kind};
use crate::store::tables::{tunnels, waivers};

/// The waiver with this number that a member signed, or that was signed for the member, as a PDF in the language of its text.
/// 404 where it is another member's.
pub(crate) fn pdf(site: &Site, member_id: MemberId, signature_id: SignatureId) -> Result<Vec<u8>, Failure> {
    let paper = site.store.read(|tx| read_paper(site, tx, member_id, signature_id))?;
    papers::draw(site, move |letters| printout::draw(&paper, letters))
}

fn read_paper(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    signature_id: SignatureId,
) -> Result<printout::SignedWaiver, Failure> {
    let signed = waivers::find(tx, signature_id)?.filter(|signed| signed.member_id == member_id);
    let signed = signed.ok_or_else(Failure::not_found)?;
    let text = site_texts::find(tx, Kind::Waiver, signed.version, &signed.language)?.ok_or_else(Failure::broken)?;
    let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
    let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
    let language = site.find_language(&signed.language).unwrap_or_default();
    let say = |key: &'static str| language.say(&Text::new(key));
    let facts = [
        ("waiver.number", format!("{signature_id} · {} {member_id}", home.name)),
        ("waiver.flyer", signed.flyer_name),
        ("waiver.born", when::day(language, &TimeZone::UTC, signed.born)),
        ("waiver.signer_name", format!("{} ({})", signed.signer_name, say(relation_key(signed.relation)))),
        (
            "waiver.signed_at",
            format!(
                "{} (UTC {})",
                zone.date_time_zone(signed.signed_at),
                TimeZone::UTC.date_time_zone(signed.signed_at)
            ),
        ),
        ("waiver.signed_where", say(place_key(signed.place))),
        ("waiver.version", format!("{} ({})", text.version, text.language)),
        ("waiver.hash", hex(&signed.text_hash)),
    ];
    let answers = signed.answers.chars().map(|answer| answer == 'y');
    Ok(printout::SignedWaiver {
        site_name: home.name.clone(),
        site_city: home.city,
        number: signature_id.0,
        title: text.title,
        body: text.body,
        questions: waiver::questions(&text.questions).map(str::to_owned).zip(answers).collect(),
        facts: facts.map(|(key, fact)| (say(key), fact)).into(),
        signer_name: signed.signer_name,
        strokes: waiver::lines(&signed.strokes),
        field_width: waiver::FIELD_WIDTH,
        language,
    })
}

pub(crate) fn relation_key(relation: Relation) -> &'static str {
    ["waiver.relation_self", "waiver.relation_parent", "waiver.relation_guardian", "waiver.relation_permission"]
        [relation as usize]
}

pub(crate) fn place_key(place: SigningPlace) -> &'static str {
    ["papers.at_kiosk", "papers.at_phone", "papers.at_desk", "papers.at_app"][place as usize]
}
