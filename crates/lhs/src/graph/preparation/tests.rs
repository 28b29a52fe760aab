use super::*;

/// A table of text cells, prepared.
fn prepared(
    columns: &[(&str, &[&str])],
    config: &PreparationConfig,
) -> Result<(Vec<String>, Mat, Preparation)> {
    let profiles: Vec<(String, Profile)> = columns
        .iter()
        .map(|(name, cells)| {
            let mut profile = Profile::new(config.as_words.iter().any(|words| words == name));
            cells.iter().zip(1..).for_each(|(cell, row)| profile.observe(Raw::of(cell), row));
            (name.to_string(), profile)
        })
        .collect();
    let mut preparation = Preparation::fit(&profiles, config)?.preparation;
    for column in preparation.wants_values() {
        let cells = columns.iter().find(|(name, _)| *name == preparation.columns[column].name).unwrap().1;
        let Rule::Number { written, .. } = &preparation.columns[column].rule else { panic!("words") };
        let values = cells.iter().filter_map(|cell| written.read(cell)).collect();
        preparation.complete(column, values);
    }
    let mut out = Mat::zeros(columns[0].1.len(), preparation.width());
    for row in 0..out.rows() {
        let mut start = 0;
        for rule in &preparation.columns {
            let cells = columns.iter().find(|(name, _)| *name == rule.name).unwrap().1;
            let end = start + rule.width();
            rule.write(Raw::of(cells[row]), &mut out.row_mut(row)[start..end]).unwrap();
            start = end;
        }
    }
    Ok((preparation.feature_names(), out, preparation))
}

fn problem(columns: &[(&str, &[&str])]) -> String {
    prepared(columns, &PreparationConfig::default()).unwrap_err().to_string()
}

#[test]
fn words_become_a_feature_each_and_rare_ones_share_one() {
    let config = PreparationConfig { categories: 2, ..PreparationConfig::default() };
    let countries = ["de", "fr", "de", "us", "fr", "de"];
    let (names, mat, preparation) = prepared(&[("country", &countries)], &config).unwrap();
    assert_eq!(names, ["country=de", "country=fr", "country (other)"]);
    assert_eq!(mat.row(3), [0.0, 0.0, 1.0]);
    let mut unseen = [9.0; 3];
    preparation.columns[0].write(Raw::Text("jp"), &mut unseen).unwrap();
    assert_eq!(unseen, [0.0, 0.0, 1.0], "a word never seen is another");
    let all = PreparationConfig::default();
    let (names, _, preparation) = prepared(&[("vip", &["true", "false", "true"])], &all).unwrap();
    assert_eq!(names, ["vip=false", "vip=true"]);
    preparation.columns[0].write(Raw::Text("perhaps"), &mut unseen[..2]).unwrap();
    assert_eq!(unseen[..2], [0.0, 0.0]);
}

#[test]
fn the_unit_of_a_column_changes_no_bit() {
    let amounts: Vec<f64> = (0..200).map(|i| f64::from((i * 7919) % 1009) * 0.37 + 1.0).collect();
    let skewed: Vec<f64> = amounts.iter().map(|amount| (amount / 30.0).exp()).collect();
    for values in [amounts, skewed] {
        let features = |factor: f64| {
            let mat = Mat::from_fn(200, 1, |row, _| (values[row] * factor) as f32);
            let names = ["amount".to_string()];
            prepare_matrix(&Features::Dense(mat), &names, &PreparationConfig::default()).unwrap().unwrap().0
        };
        let (euros, cents) = (features(1.0), features(100_000.0));
        let differ = euros.values().iter().zip(cents.values()).filter(|(a, b)| a != b).count();
        assert!(differ <= 2, "{differ} of 200, at the edges of a step");
    }
}

#[test]
fn skewed_numbers_are_ranked_and_others_standardised() {
    let even: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    let steep: Vec<String> = (0..100).map(|i| (f64::from(i) / 5.0).exp().to_string()).collect();
    let two: Vec<String> = (0..100).map(|i| (i % 2).to_string()).collect();
    let cells = |column: &'static str, values: &[String]| -> (Vec<f32>, Preparation) {
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        let (_, mat, preparation) = prepared(&[(column, &texts)], &PreparationConfig::default()).unwrap();
        (mat.as_slice().to_vec(), preparation)
    };
    let (even, rule) = cells("even", &even);
    assert!(matches!(rule.columns[0].rule, Rule::Number { scale: Scaling::Standard { .. }, .. }));
    assert!(even.iter().sum::<f32>().abs() < 0.05);
    assert!((even.iter().map(|v| v * v).sum::<f32>() / 100.0 - 1.0).abs() < 0.01);
    let (steep, rule) = cells("steep", &steep);
    assert!(matches!(rule.columns[0].rule, Rule::Number { scale: Scaling::Rank { .. }, .. }));
    assert_eq!((steep[0], steep[99]), (-1.0, 1.0));
    let (two, rule) = cells("two", &two);
    assert!(matches!(rule.columns[0].rule, Rule::Number { scale: Scaling::None, .. }));
    assert_eq!(two[..2], [0.0, 1.0]);
}

#[test]
fn gaps_are_counted_or_filled_as_asked() {
    let age: &[&str] = &["10", "", "30", "NA", "80"];
    let error = problem(&[("age", age), ("size", &["1", "2", "3", "4", "nan"])]);
    assert!(error.starts_with("3 values are missing: `age` 2, `size` 1 (the first in row 2)"), "{error}");
    let filled = |missing: Missing| {
        let config = PreparationConfig { missing, scale: Scale::None, ..PreparationConfig::default() };
        let (names, mat, _) = prepared(&[("age", age)], &config).unwrap();
        (names.len(), mat.row(1).to_vec())
    };
    assert_eq!(filled(Missing::Mean), (1, vec![40.0]));
    assert_eq!(filled(Missing::Median), (1, vec![30.0]));
    assert_eq!(filled(Missing::Zero), (1, vec![0.0]));
    assert_eq!(filled(Missing::Flag), (2, vec![40.0, 1.0]));
    let config = PreparationConfig { missing: Missing::Flag, ..PreparationConfig::default() };
    let (names, mat, preparation) = prepared(&[("land", &["de", "", "de", "fr"])], &config).unwrap();
    assert_eq!(names, ["land=de", "land=fr", "land (missing)"]);
    assert_eq!(mat.row(1), [0.0, 0.0, 1.0]);
    assert_eq!(preparation.columns[0].write(Raw::Gap, &mut [0.0; 3]), Ok(()));
    let strict = prepared(&[("size", &["1", "2"])], &PreparationConfig::default()).unwrap().2;
    assert_eq!(strict.columns[0].write(Raw::Gap, &mut [0.0]), Err(Refused::Gap));
}

#[test]
fn times_commas_and_slips_are_told_apart() {
    let (_, mat, preparation) =
        prepared(&[("since", &["2026-01-01", "2026-01-02", "2026-01-03"])], &PreparationConfig::default())
            .unwrap();
    assert!(matches!(preparation.columns[0].rule, Rule::Number { written: Written::Time, .. }));
    assert!(mat.get(0, 0) < -1.0 && mat.get(2, 0) > 1.0, "{mat:?}");
    let (_, mat, _) = prepared(
        &[("amount", &["3,5", "4", "-1,25"])],
        &PreparationConfig { scale: Scale::None, ..PreparationConfig::default() },
    )
    .unwrap();
    assert_eq!(mat.as_slice(), [3.5, 4.0, -1.25]);
    assert!(problem(&[("amount", &["1,234", "5,678"])]).contains("may be above a thousand or about one"));
    let slip: Vec<&str> = (0..20).map(|i| if i == 7 { "n.a." } else { "1.5" }).collect();
    let error = problem(&[("amount", &slip)]);
    assert!(error.starts_with("row 8, column `amount`: `n.a.` stands among numbers"), "{error}");
    assert!(problem(&[("day", &["01/02/2026"; 12])]).contains("which part is the month"));
    assert!(problem(&[("x", &["1", "inf"])]).contains("`inf` is not a finite number"));
    assert!(problem(&[("x", &["1", "1e99"])]).contains("is not a finite number"));
}

#[test]
fn names_of_rows_and_empty_columns_are_left_out() {
    let names: Vec<String> = (0..40).map(|i| format!("page {i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let profiles = [("title", names.as_slice()), ("void", &[""; 40])].map(|(name, cells)| {
        let mut profile = Profile::default();
        cells.iter().zip(1..).for_each(|(cell, row)| profile.observe(Raw::of(cell), row));
        (name.to_string(), profile)
    });
    let fitted = Preparation::fit(&profiles, &PreparationConfig::default()).unwrap();
    assert_eq!(fitted.preparation.left_out, ["title", "void"]);
    assert!(fitted.notes[0].contains("40 of its 40 values are different"), "{:?}", fitted.notes);
}

#[test]
fn numbers_can_be_names() {
    let codes: &[&str] = &["1010", "1020", "1010"];
    let config = PreparationConfig { as_words: vec!["zip".into()], ..PreparationConfig::default() };
    assert_eq!(prepared(&[("zip", codes)], &config).unwrap().0, ["zip=1010", "zip=1020"]);
}

#[test]
fn sparse_numbers_are_left_alone() {
    let counts: Vec<String> =
        (0..100).map(|i| if i % 10 == 0 { (i + 1).to_string() } else { "0".into() }).collect();
    let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
    let (_, _, preparation) = prepared(&[("word", &counts)], &PreparationConfig::default()).unwrap();
    assert!(matches!(preparation.columns[0].rule, Rule::Number { scale: Scaling::None, .. }));
}

#[test]
fn it_is_saved_as_it_is() {
    let config = PreparationConfig { missing: Missing::Flag, ..PreparationConfig::default() };
    let columns: &[(&str, &[&str])] = &[("land", &["de", "", "fr"]), ("age", &["1", "2", "4"])];
    let preparation = prepared(columns, &config).unwrap().2;
    let text = serde_json::to_string(&preparation).unwrap();
    assert_eq!(serde_json::from_str::<Preparation>(&text).unwrap(), preparation);
}
