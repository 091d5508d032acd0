//! The time zones of each country: `assets/countries/zones.tsv`, whose format the README beside it describes.

static ZONES: &str = include_str!("../../assets/countries/zones.tsv");

/// The clocks of a country, by its ISO 3166 code: for each clock its zones, the best known first. Empty for a country
/// that the list lacks.
pub(crate) fn clocks_of(country: &str) -> Vec<Vec<&'static str>> {
    let of_country = |line: &&'static str| line.split('\t').next() == Some(country);
    let words = ZONES.lines().find(of_country).and_then(|line| line.split('\t').nth(1));
    words.into_iter().flat_map(str::split_whitespace).map(|clock| clock.split(',').collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::local_time::parse_zone_name;

    #[test]
    fn a_country_has_its_clocks_and_each_zone_is_known() {
        assert_eq!(clocks_of("CH"), [["Europe/Zurich"]]);
        assert_eq!(clocks_of("DE"), [["Europe/Berlin", "Europe/Busingen"]]);
        assert_eq!(clocks_of("ES").len(), 2);
        assert!(clocks_of("QQ").is_empty());
        for name in ZONES.lines().filter_map(|line| line.split('\t').nth(1)).flat_map(|zones| zones.split([' ', ','])) {
            assert!(parse_zone_name(name).is_ok(), "{name}");
        }
    }
}
