//! Colours that tell classes apart.

/// The colours of Okabe and Ito, which people who confuse red and green can tell apart, without black.
const FIRST: [[u8; 3]; 7] = [
    [0, 114, 178],
    [230, 159, 0],
    [0, 158, 115],
    [213, 94, 0],
    [204, 121, 167],
    [86, 180, 233],
    [240, 228, 66],
];

/// The colour of nodes without a class.
pub(super) const UNKNOWN: [u8; 3] = [190, 190, 190];

/// The colour of a class. Past the fixed ones, hues are spread by the golden ratio, bright and dark in turn,
/// so that any number of classes gets different colours with neighbours far apart.
pub(super) fn colour(class: usize) -> [u8; 3] {
    if let Some(&colour) = FIRST.get(class) {
        return colour;
    }
    let turn = class - FIRST.len();
    let (hue, value) = (turn as f64 * 0.618_033_988_749_895, if turn.is_multiple_of(2) { 0.9 } else { 0.6 });
    let channel = |offset: f64| {
        let sector = (offset + hue * 6.0) % 6.0;
        let share = 1.0 - 0.7 * sector.min(4.0 - sector).clamp(0.0, 1.0);
        (255.0 * value * share).round() as u8
    };
    [channel(5.0), channel(3.0), channel(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn seventy_classes_have_seventy_colours() {
        let colours: HashSet<_> = (0..70).map(colour).chain([UNKNOWN]).collect();
        assert_eq!(colours.len(), 71);
    }
}
