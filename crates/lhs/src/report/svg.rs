//! Figures as SVG: axes with round ticks, lines with bands, steps, dots and bars.
//!
//! Axes and text take the colour of the page around them, so one figure serves light and dark pages and paper; series
//! have colours that colour-blind readers can tell apart (Okabe and Ito's).

use std::fmt::Write;

use maud::{Markup, html};

/// Colours of the series.
pub const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F"];

const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 42.0;
/// Height of a row of names below the axes.
const LEGEND: f64 = 18.0;

/// The range of an axis and what it shows.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis over a range.
    pub fn new(label: &str, from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Axis { label: label.into(), from, to }
    }

    /// An axis with room for all values.
    pub fn around(label: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let bounds = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.into_iter().fold(bounds, |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return Axis::new(label, 0.0, 1.0);
        }
        let room = 0.06 * (high - low).max(1e-9);
        Axis::new(label, low - room, high + room)
    }

    /// Round numbers in the range, about `count` of them.
    fn ticks(&self, count: f64) -> Vec<f64> {
        let raw = (self.to - self.from) / count;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= raw).unwrap_or(raw);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|tick| tick as f64 * step).collect()
    }
}

/// A figure in the making.
pub struct Plot {
    size: (f64, f64),
    x: Axis,
    y: Axis,
    body: Vec<Markup>,
    legend: Vec<(String, &'static str)>,
}

impl Plot {
    /// An empty figure.
    pub fn new(x: Axis, y: Axis) -> Self {
        Plot { size: (420.0, 260.0), x, y, body: Vec::new(), legend: Vec::new() }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = (self.size.0 - LEFT - RIGHT, self.size.1 - TOP - BOTTOM);
        let share = |axis: &Axis, value: f64| (value - axis.from) / (axis.to - axis.from);
        (LEFT + width * share(&self.x, x), TOP + height * (1.0 - share(&self.y, y)))
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            let (x, y) = self.place(x, y);
            let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        path
    }

    /// Names a series.
    pub fn legend(&mut self, name: &str, colour: usize) {
        self.legend.push((name.into(), COLOURS[colour % COLOURS.len()]));
    }

    /// A line through points, with dots at them if they are few.
    pub fn line(&mut self, points: &[(f64, f64)], colour: usize) {
        let stroke = COLOURS[colour % COLOURS.len()];
        let path = self.path(points);
        self.body.push(html! { path d=(path) fill="none" stroke=(stroke) stroke-width="1.8" {} });
        if points.len() <= 12 {
            points.iter().for_each(|&(x, y)| self.dot(x, y, colour, &format!("{y:.2}")));
        }
    }

    /// The area between two lines over the same places.
    pub fn band(&mut self, points: &[(f64, f64, f64)], colour: usize) {
        let low = points.iter().map(|&(x, low, _)| (x, low));
        let high = points.iter().rev().map(|&(x, _, high)| (x, high));
        let path = self.path(&low.chain(high).collect::<Vec<_>>());
        let fill = COLOURS[colour % COLOURS.len()];
        self.body.push(html! { path d={ (path) "Z" } fill=(fill) fill-opacity="0.15" {} });
    }

    /// A histogram over [0, 1], as shares of all.
    pub fn steps(&mut self, histogram: &[usize], colour: usize) {
        let total = histogram.iter().sum::<usize>().max(1) as f64;
        let width = 1.0 / histogram.len().max(1) as f64;
        let mut points = vec![(0.0, 0.0)];
        for (bin, &count) in histogram.iter().enumerate() {
            let share = count as f64 / total;
            points.extend([(bin as f64 * width, share), ((bin + 1) as f64 * width, share)]);
        }
        points.push((1.0, 0.0));
        let (path, colour) = (self.path(&points), COLOURS[colour % COLOURS.len()]);
        self.body.push(html! {
            path d=(path) fill=(colour) fill-opacity="0.10" stroke=(colour) stroke-width="1.5" {}
        });
    }

    /// A dot that says something when it is pointed at.
    pub fn dot(&mut self, x: f64, y: f64, colour: usize, said: &str) {
        let (x, y) = self.place(x, y);
        let fill = COLOURS[colour % COLOURS.len()];
        self.body
            .push(html! { circle cx=(tenths(x)) cy=(tenths(y)) r="3.2" fill=(fill) { title { (said) } } });
    }

    /// The finished figure; `title` is read out to those who cannot see it.
    pub fn finish(self, title: &str) -> Markup {
        let (width, (names, rows)) = (self.size.0, self.legend_places());
        let height = self.size.1 + LEGEND * rows as f64;
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } role="img" font-size="11"
                font-family="system-ui,sans-serif" fill="currentColor" {
                title { (title) }
                (self.grid())
                (self.axes())
                @for part in &self.body { (part) }
                @for ((x, y), (name, colour)) in names.into_iter().zip(&self.legend) {
                    rect x=(tenths(x)) y=(tenths(y - 9.0)) width="10" height="10" fill=(colour) {}
                    text x=(tenths(x + 14.0)) y=(tenths(y)) { (name) }
                }
            }
        }
    }

    /// Where the names of the series stand, as many in a row as fit, and how many rows that takes. How wide a name is
    /// drawn is only known to the browser: this is a guess with room to spare.
    fn legend_places(&self) -> (Vec<(f64, f64)>, usize) {
        let (mut x, mut row, mut places) = (LEFT, 0, Vec::new());
        for (name, _) in &self.legend {
            let width = 28.0 + 6.0 * name.chars().count() as f64;
            if x > LEFT && x + width > self.size.0 {
                (x, row) = (LEFT, row + 1);
            }
            places.push((x, self.size.1 + 12.0 + LEGEND * row as f64));
            x += width;
        }
        let rows = if places.is_empty() { 0 } else { row + 1 };
        (places, rows)
    }

    /// Faint lines at the ticks, and their numbers.
    fn grid(&self) -> Markup {
        let (right, bottom) = (self.size.0 - RIGHT, self.size.1 - BOTTOM);
        html! {
            @for (x, tick) in self.x.ticks(6.0).into_iter().map(|tick| (self.place(tick, 0.0).0, tick)) {
                path d={ "M" (tenths(x)) " " (TOP) "V" (bottom) } stroke="currentColor" stroke-opacity="0.12" {}
                text x=(tenths(x)) y=(tenths(bottom + 15.0)) text-anchor="middle" { (short(tick)) }
            }
            @for (y, tick) in self.y.ticks(5.0).into_iter().map(|tick| (self.place(0.0, tick).1, tick)) {
                path d={ "M" (LEFT) " " (tenths(y)) "H" (right) } stroke="currentColor" stroke-opacity="0.12" {}
                text x=(tenths(LEFT - 6.0)) y=(tenths(y + 4.0)) text-anchor="end" { (short(tick)) }
            }
        }
    }

    /// Both axes and what they show.
    fn axes(&self) -> Markup {
        let (right, bottom) = (self.size.0 - RIGHT, self.size.1 - BOTTOM);
        let (across, up) = ((LEFT + right) / 2.0, (TOP + bottom) / 2.0);
        html! {
            path d={ "M" (LEFT) " " (TOP) "V" (bottom) "H" (right) } fill="none" stroke="currentColor"
                stroke-opacity="0.6" {}
            text x=(tenths(across)) y=(tenths(bottom + 33.0)) text-anchor="middle" { (self.x.label) }
            text transform={ "translate(14 " (tenths(up)) ") rotate(-90)" } text-anchor="middle" { (self.y.label) }
        }
    }
}

/// A coordinate: a tenth of a unit is finer than a pixel.
fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// A number without the noise of arithmetic.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::new("", 0.0, 1.0).ticks(5.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::new("", 41.3, 88.0).ticks(5.0), [50.0, 60.0, 70.0, 80.0]);
        assert_eq!(Axis::around("", []).ticks(2.0), [0.0, 0.5, 1.0]);
        assert_eq!([short(0.6000000000000001), short(-0.0), short(50.0)], ["0.6", "0", "50"]);
    }

    #[test]
    fn names_cannot_break_out_of_the_figure() {
        let mut plot = Plot::new(Axis::new("<x>", 0.0, 1.0), Axis::new("y", 0.0, 1.0));
        plot.legend("\"><script>", 0);
        plot.dot(0.5, 0.5, 9, "a & b");
        let svg = plot.finish("<title>").into_string();
        assert!(!svg.contains("<script>") && !svg.contains("<x>") && svg.contains("a &amp; b"));
    }
    #[test]
    fn names_that_do_not_fit_start_a_row() {
        let mut plot = Plot::new(Axis::new("x", 0.0, 1.0), Axis::new("y", 0.0, 1.0));
        assert_eq!(plot.legend_places().1, 0);
        ["short", "short", &"long".repeat(20), "short"].iter().for_each(|name| plot.legend(name, 0));
        let (places, rows) = plot.legend_places();
        assert_eq!(rows, 3);
        assert!(places[0].1 == places[1].1 && places[1].0 > places[0].0 + 40.0);
        assert!(places[2].0 == LEFT && places[3].0 == LEFT && places[3].1 > places[2].1);
    }
}
