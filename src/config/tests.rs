//! Tests of the settings: their origins, and every mistake in them.

use super::*;

fn with(file: &str, environment: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let mut settings = Settings::new();
    settings.add_file(file, "t.toml");
    settings.add_environment(environment.iter().map(|(k, v)| (k.to_string(), v.to_string())));
    settings.check()
}

#[test]
fn the_sample_is_the_defaults() {
    assert_eq!(with(SAMPLE, &[]).unwrap(), Config::defaults());
    assert_eq!(Config::defaults().yearly_fee_cents, 0);
}

#[test]
fn the_environment_wins_over_the_file() {
    let config = with(
        "limits.queue_max = 7\nnames = [\"A.example\"]",
        &[("TUNNELDESK_LIMITS_QUEUE_MAX", "9"), ("TUNNELDESK_LISTEN", "127.0.0.1:1, [::1]:2")],
    )
    .unwrap();
    assert_eq!(config.limits.queue_max, 9);
    assert_eq!(config.names, ["a.example"]);
    assert_eq!(config.listen.len(), 2);
}

#[test]
fn a_public_name_is_one_of_the_names() {
    let file = "names = [\"desk.example.org\", \"Me.example.org\"]\npublic_names = ";
    assert_eq!(with(&format!("{file}[\"me.Example.org\"]"), &[]).unwrap().public_names, ["me.example.org"]);
    let mistakes = with(&format!("{file}[\"other.example.org\"]"), &[]).unwrap_err();
    assert!(mistakes.len() == 1 && mistakes[0].contains("other.example.org is not in names"), "{mistakes:?}");
}

#[test]
fn every_mistake_is_named_at_once() {
    let mistakes = with(
        "listen = [\"nowhere\"]\nmetrics_listen = \"10.0.0.1:1\"\ncolour = 3\npublic_url = \"x\"\n[limits]\nqueue_max = \"many\"\nspeed = 1\n[log]\nlevel = \"loud\"",
        &[("TUNNELDESK_LIMITS_POOL_THREADS", "0"), ("TUNNELDESK_TYPO", "1"), ("TUNNELDESK_CONFIG", "x")],
    )
    .unwrap_err();
    for part in [
        "nowhere",
        "10.0.0.1:1",
        "colour",
        "public_url",
        "queue_max",
        "limits.speed",
        "loud",
        "POOL_THREADS",
        "TUNNELDESK_TYPO",
    ] {
        assert!(mistakes.iter().any(|m| m.contains(part)), "{part} is not in {mistakes:#?}");
    }
    assert_eq!(mistakes.len(), 9, "{mistakes:#?}");
}

#[test]
fn an_origin_is_a_scheme_and_a_place_and_nothing_else() {
    let origins = |list: &str| with(&format!("allowed_origins = {list}"), &[]).map(|config| config.allowed_origins);
    let known = origins(r#"["https://App.example.org", "http://10.0.0.7:3000", "capacitor://localhost"]"#).unwrap();
    assert_eq!(known, ["https://app.example.org", "http://10.0.0.7:3000", "capacitor://localhost"]);
    assert_eq!(Config::defaults().allowed_origins, [""; 0]);
    for bad in
        ["*", "null", "", "app.example.org", "https://", "https://a.example/", "https://a b", "https://u@a.example"]
    {
        assert!(origins(&format!("[{bad:?}]")).is_err(), "{bad}");
    }
}

#[test]
fn a_file_that_is_no_toml_is_one_mistake_in_one_line() {
    let mistakes = with("listen = [", &[]).unwrap_err();
    assert_eq!(mistakes.len(), 1);
    assert!(!mistakes[0].contains('\n'));
}

#[test]
fn half_a_social_network_is_a_mistake_and_its_secret_is_not_shown() {
    let file = "[social.google]\nclient_ids = [\"a\"]\n[social.apple]\nkeys_file = \"k\"\n[social.facebook]\napp_secret = \"hush\"";
    let mistakes = with(file, &[]).unwrap_err();
    assert_eq!(mistakes.len(), 2, "{mistakes:#?}");
    let mut settings = Settings::new();
    settings.add_file("[social.facebook]\napp_secret = \"hush\"", "t.toml");
    assert!(!format!("{:?}", settings.effective()).contains("hush"));
    assert!(!format!("{:?}", settings.check().unwrap()).contains("hush"));
    assert!(!with("[social.facebook]\napp_secret = [\"hush\"]", &[]).unwrap_err()[0].contains("hush"));
}

#[test]
fn a_site_extends_the_catalogue_by_a_file_and_every_mistake_in_it_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let with_file = |json: &str| {
        let path = dir.path().join("catalogue.json");
        std::fs::write(&path, json).unwrap();
        with(&format!("catalogue = {:?}", path.display().to_string()), &[])
    };
    let extended = with_file(include_str!("../../packaging/catalogue.json")).unwrap().catalogue;
    assert_eq!(extended.find_skill("100401").unwrap().0.name, "Wingsuit Level 4");
    assert_eq!(Config::defaults().catalogue, Catalogue::built_in());
    let own = r#"{"programmes": [{"cat_group": "Flyer", "levels": [{"cat_id": "1", "skills": [
        {"skill": "10101", "name": "Again", "required": true}]}]}]}"#;
    let mistakes = with_file(own).unwrap_err();
    for part in ["at least 6 digits", "is there twice", "is not required"] {
        assert!(mistakes.iter().any(|m| m.contains(part) && m.contains("catalogue.json")), "{part}: {mistakes:#?}");
    }
    assert!(with_file("[").unwrap_err()[0].contains("not an extension"));
    assert!(with("catalogue = \"/nowhere/at/all\"", &[]).unwrap_err()[0].contains("cannot be read"));
}

#[test]
fn an_address_in_the_log_is_as_long_as_the_site_wants_it() {
    let shown = |addresses: &str, address: &str| {
        let config = with(&format!("[log]\naddresses = \"{addresses}\""), &[]).unwrap();
        config.log.addresses.reduce(address.parse().unwrap()).map(|address| address.to_string())
    };
    for (given, network) in [("192.0.2.77", "192.0.2.0"), ("2001:db8:1:2:3::4", "2001:db8:1::")] {
        assert_eq!(shown("whole", given).as_deref(), Some(given));
        assert_eq!(shown("network", given).as_deref(), Some(network));
        assert_eq!(shown("none", given), None);
    }
    assert!(with("[log]\naddresses = \"some\"", &[]).is_err());
}

#[test]
fn metrics_leave_this_machine_only_with_a_token_that_nobody_guesses() {
    let open = "metrics_listen = \"10.0.0.1:9464\"\n";
    let mistakes = |lines: &str| with(&format!("{open}{lines}"), &[]).unwrap_err().join("\n");
    assert!(mistakes("").contains("unless there is a metrics_token"), "{}", mistakes(""));
    assert!(mistakes("metrics_token = \"short\"").contains("32 to 256"));
    let token = "0123456789abcdef".repeat(2);
    let config = with(&format!("{open}metrics_token = \"{token}\""), &[]).unwrap();
    assert_eq!((config.metrics_token, config.metrics_listen.unwrap().port()), (Some(Secret::new(&token)), 9464));
}

#[test]
fn a_local_name_is_one_word_and_counts_among_the_names() {
    let names = |lines: &str| with(lines, &[]).unwrap().names;
    assert_eq!(names("local_name = \"Tunneldesk.local\""), ["tunneldesk.local"]);
    assert_eq!(names("names = [\"a.example.org\"]\nlocal_name = \"x.local\""), ["a.example.org", "x.local"]);
    assert_eq!(with("local_name = \"x.local\"", &[]).unwrap().local_name.as_deref(), Some("x.local"));
    for wrong in ["tunneldesk", "a.b.local", ".local", "tunnel desk.local"] {
        assert!(with(&format!("local_name = \"{wrong}\""), &[]).is_err(), "{wrong}");
    }
}

#[test]
fn metrics_can_be_turned_off() {
    assert_eq!(with("metrics_listen = \"\"", &[]).unwrap().metrics_listen, None);
}

#[test]
fn a_restore_needs_the_settings_of_the_site_and_its_copies_alone() {
    let for_restore = |file: &str| {
        let mut settings = Settings::new();
        settings.add_file(file, "t.toml");
        settings.for_restore().check()
    };
    let broken = "listen = 7\nlisten_at = \"x\"\ndata = \"there\"\n[backup]\nevery_hours = 5\n";
    assert_eq!(with(broken, &[]).unwrap_err().len(), 2);
    let config = for_restore(broken).unwrap();
    assert_eq!((config.data.to_str(), config.backup.every_hours), (Some("there"), 5));
    for needed in
        ["data = 7", "[backup]\nevery_hours = -1", "[backup]\nsecond_plaice = \"x\"", "[backup", "[replica]\ntokn = 1"]
    {
        assert!(for_restore(needed).is_err(), "{needed}");
    }
}

#[test]
fn a_demo_has_no_delays_and_the_usual_limit_of_messages_by_its_form() {
    let mut settings = Settings::new();
    settings.for_demo();
    let limits = settings.check().unwrap().limits;
    assert_eq!(limits.contacts_per_hour_per_address, Config::defaults().limits.contacts_per_hour_per_address);
    assert!(limits.signups_per_hour_per_address > Config::defaults().limits.signups_per_hour_per_address);
}

#[test]
fn minutes_are_named_once_and_reminders_have_an_hour_of_the_day() {
    for (file, key, words) in [
        ("[tunnel]\nusual_minutes = [\"5\", \"5\", \"5\"]", "tunnel.usual_minutes", "names 5 twice"),
        ("[tunnel]\nkiosk_minutes = [\"2\", \"10\", \"2\"]", "tunnel.kiosk_minutes", "names 2 twice"),
        ("[reminders]\nfrom_hour = 20\nuntil_hour = 20", "reminders.until_hour", "reminders.from_hour (20)"),
        ("[reminders]\nfrom_hour = 20", "reminders.until_hour", "reminders.from_hour (20)"),
        ("[reminders]\nfrom_hour = 22\nuntil_hour = 6", "reminders.until_hour", "later on the same day"),
    ] {
        let mistakes = with(file, &[]).unwrap_err();
        assert!(mistakes.len() == 1 && mistakes[0].contains(key) && mistakes[0].contains(words), "{mistakes:?}");
    }
    assert_eq!(with("[tunnel]\nusual_minutes = [\"5\", \"15\"]", &[]).unwrap().usual_minutes, vec![5, 15]);
    assert_eq!(with("[reminders]\nfrom_hour = 23\nuntil_hour = 24", &[]).unwrap().reminders.from_hour, 23);
}
