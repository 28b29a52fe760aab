//! Heat maps: a square of shaded fields with the names of the classes along both sides, and a scale.

use std::fmt::Write;

use maud::{Markup, html};
use serde_json::json;

use super::svg::{COLOURS, tenths};

/// Shades that are told apart.
const SHADES: usize = 25;
/// Fields are drawn on a square of this side.
const SIDE: f64 = 250.0;
const TOP: f64 = 8.0;
/// Longer names are cut; pointing at a field shows them whole.
const NAME: usize = 12;
/// So many fields a side have room for a number each.
const WRITTEN: usize = 9;

/// A heat map in the making.
pub struct HeatMap<'a> {
    /// What the columns are.
    pub x: &'a str,
    /// What the rows are.
    pub y: &'a str,
    /// Names of the classes, and how many rows and columns each has.
    pub classes: Vec<(&'a str, usize)>,
    /// Values, row by row.
    pub values: Vec<f64>,
    /// How dark each is, from 0 to 1.
    pub shades: Vec<f64>,
    /// What the shades mean.
    pub scale: &'a str,
    /// Shades and what they stand for.
    pub marks: Vec<(f64, String)>,
}

impl HeatMap<'_> {
    fn count(&self) -> usize {
        self.classes.iter().map(|(_, rows)| rows).sum()
    }

    /// Characters of the longest name, as it is drawn.
    fn longest(&self) -> f64 {
        self.classes.iter().map(|(name, _)| cut(name).chars().count()).max().unwrap_or(0) as f64
    }

    /// Where the fields begin: names and their axis stand before them.
    fn left(&self) -> f64 {
        28.0 + 6.2 * self.longest()
    }

    /// How much room names and their axis need below.
    fn below(&self) -> f64 {
        34.0 + 4.6 * self.longest()
    }

    fn side(&self) -> f64 {
        SIDE / self.count().max(1) as f64
    }

    /// The finished figure.
    pub fn finish(&self, title: &str) -> Markup {
        let (left, bottom) = (self.left(), TOP + SIDE);
        let (right, below) = (left + SIDE, self.below());
        html! {
            svg.plot xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (tenths(right + 74.0)) " " (tenths(bottom + below)) } role="img"
                aria-label=(title) data-x=(self.x) data-y=(self.y) data-grid=(self.grid()) font-size="11"
                font-family="system-ui,sans-serif" fill="currentColor" {
                (self.fields())
                path d={ "M" (tenths(left)) " " (TOP) "H" (tenths(right)) "V" (bottom) "H" (tenths(left)) "Z" } fill="none"
                    stroke="currentColor" stroke-opacity="0.5" {}
                (self.names())
                text transform={ "translate(12 " (TOP + SIDE / 2.0) ") rotate(-90)" } text-anchor="middle" { (self.y) }
                text x=(tenths(left + SIDE / 2.0)) y=(tenths(bottom + below - 6.0)) text-anchor="middle" { (self.x) }
                (self.legend())
            }
        }
    }

    /// What the script needs to say what is pointed at.
    fn grid(&self) -> String {
        let names: Vec<&str> = self.classes.iter().map(|(name, _)| *name).collect();
        let rows: Vec<usize> = self.classes.iter().map(|(_, rows)| *rows).collect();
        // Three significant digits are more than a shade tells.
        let short = |value: &f64| format!("{value:.2e}").parse::<f64>().unwrap_or(0.0);
        let values: Vec<f64> =
            self.values.iter().map(|v| if v.fract() == 0.0 { *v } else { short(v) }).collect();
        json!({ "left": self.left(), "top": TOP, "side": SIDE, "names": names, "rows": rows, "values": values })
            .to_string()
    }

    /// The fields, those of one shade together: thousands of elements would make the page slow.
    fn fields(&self) -> Markup {
        let (count, side, left) = (self.count(), self.side(), self.left());
        let mut paths = vec![String::new(); SHADES + 1];
        for (place, &shade) in self.shades.iter().enumerate().filter(|(_, shade)| **shade > 0.0) {
            let (x, y) = (left + (place % count) as f64 * side, TOP + (place / count) as f64 * side);
            let path = &mut paths[(shade.min(1.0) * SHADES as f64).ceil() as usize];
            let _ = write!(path, "M{x:.1} {y:.1}h{side:.2}v{side:.2}h-{side:.2}z");
        }
        html! {
            @for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                path d=(path) fill=(COLOURS[0]) fill-opacity=(format_args!("{:.2}", shade as f64 / SHADES as f64)) {}
            }
            @if count <= WRITTEN {
                @for (place, value) in self.values.iter().enumerate() {
                    text x=(tenths(left + ((place % count) as f64 + 0.5) * side))
                        y=(tenths(TOP + ((place / count) as f64 + 0.5) * side + 4.0)) text-anchor="middle"
                        fill=(if self.shades[place] > 0.6 { "#fff" } else { "currentColor" }) { (value) }
                }
            }
        }
    }

    /// Names along both sides, with a line where one class ends and the next begins.
    fn names(&self) -> Markup {
        let (side, left, bottom) = (self.side(), self.left(), TOP + SIDE);
        let (mut start, mut last) = (0.0, f64::NEG_INFINITY);
        let spans = self.classes.iter().map(|&(name, rows)| {
            let (first, middle) = (start, start + rows as f64 * side / 2.0);
            start += rows as f64 * side;
            // Where classes are thin, their names would lie on each other.
            let fits = middle - last >= 10.0;
            last = if fits { middle } else { last };
            (name, first, middle, fits)
        });
        html! {
            @for (name, first, middle, fits) in spans {
                @if first > 0.0 {
                    path d={ "M" (tenths(left + first)) " " (TOP) "v" (SIDE) "M" (tenths(left)) " " (tenths(TOP + first)) "h" (SIDE) }
                        stroke="currentColor" stroke-opacity="0.25" {}
                }
                @if fits {
                    text x=(tenths(left - 5.0)) y=(tenths(TOP + middle + 4.0)) text-anchor="end" { (cut(name)) }
                    text transform={ "translate(" (tenths(left + middle + 3.0)) " " (bottom + 11.0) ") rotate(-45)" }
                        text-anchor="end" { (cut(name)) }
                }
            }
        }
    }

    /// The scale at the right.
    fn legend(&self) -> Markup {
        let (x, steps) = (self.left() + SIDE + 14.0, 20);
        let height = SIDE * 0.7;
        let at = |shade: f64| TOP + height * (1.0 - shade);
        html! {
            @for step in 0..steps {
                rect x=(tenths(x)) y=(tenths(at(f64::from(step + 1) / f64::from(steps)))) width="10"
                    height=(tenths(height / f64::from(steps))) fill=(COLOURS[0])
                    fill-opacity=(format_args!("{:.2}", (f64::from(step) + 0.5) / f64::from(steps))) {}
            }
            @for (shade, text) in &self.marks { text x=(tenths(x + 14.0)) y=(tenths(at(*shade) + 4.0)) { (text) } }
            text transform={ "translate(" (tenths(x + 54.0)) " " (TOP + height / 2.0) ") rotate(-90)" } text-anchor="middle" {
                (self.scale)
            }
        }
    }
}

fn cut(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.into();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names_and_values_can_be_pointed_at() {
        let map = HeatMap {
            x: "predicted",
            y: "true",
            classes: vec![("<b>", 1), ("a very long name indeed", 1)],
            values: vec![1.0, 0.0, 0.123456, 4.0],
            shades: vec![1.0, 0.0, 0.2, 0.8],
            scale: "share",
            marks: vec![(0.0, "0".into()), (1.0, "1".into())],
        };
        let svg = map.finish("t").into_string();
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;") && svg.contains("a very long…"));
        assert!(svg.contains("&quot;values&quot;:[1.0,0.0,0.123,4.0]"), "{svg}");
    }
}
