//! Figures as SVG: axes with round ticks, lines with bands, steps and dots.
//!
//! Axes and text take the colour of the page around them, so one figure serves light and dark pages and paper; series
//! have colours that colour-blind readers can tell apart (Okabe and Ito's), and beyond eight other line styles and
//! markers. Each series is a group that carries its name and its values: the page's script shows them to who points at
//! them, and switches the series off and on by its name below the axes.

use std::fmt::Write;

use maud::{Markup, html};
use serde_json::{Value, json};

/// Colours of the series.
pub const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F"];

/// Line styles of the first eight series, of the next eight, and so on.
const DASHES: [&str; 4] = ["none", "6 3", "2 2", "8 2 2 2"];

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

/// How a series looks.
#[derive(Clone, Copy)]
struct Style {
    colour: &'static str,
    dash: &'static str,
    /// Which of the markers.
    marker: usize,
}

impl Style {
    fn of(series: usize) -> Self {
        let round = series / COLOURS.len() % DASHES.len();
        Style { colour: COLOURS[series % COLOURS.len()], dash: DASHES[round], marker: round }
    }

    /// A marker around a place: a disc, a square, a triangle, a diamond.
    fn mark(self, (x, y): (f64, f64)) -> Markup {
        let around = |shape: &str| format!("M{x:.1} {y:.1}{shape}Z");
        let path = match self.marker {
            0 => return html! { circle cx=(tenths(x)) cy=(tenths(y)) r="3.2" fill=(self.colour) {} },
            1 => around("m-3 -3h6v6h-6"),
            2 => around("m0 -4l4 7h-8"),
            _ => around("m0 -4l4 4l-4 4l-4 -4"),
        };
        html! { path d=(path) fill=(self.colour) {} }
    }
}

/// A series by number, and where its name stands.
type Key = (usize, (f64, f64));

/// What is drawn of a series.
#[derive(Default)]
struct Series {
    name: String,
    body: Vec<Markup>,
    /// Where its values stand, and what they are.
    values: Vec<Value>,
}

/// A figure in the making. Series are numbered by who draws them; the number decides how one looks.
pub struct Plot {
    size: (f64, f64),
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    /// A line that values are held against.
    guide: Option<Markup>,
}

impl Plot {
    /// An empty figure.
    pub fn new(x: Axis, y: Axis) -> Self {
        Plot { size: (420.0, 260.0), x, y, series: Vec::new(), guide: None }
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

    fn of(&mut self, series: usize) -> &mut Series {
        if self.series.len() <= series {
            self.series.resize_with(series + 1, Series::default);
        }
        &mut self.series[series]
    }

    fn draw(&mut self, series: usize, markup: Markup) {
        self.of(series).body.push(markup);
    }

    /// Remembers values for who points at them.
    fn values(&mut self, points: &[(f64, f64)], series: usize) {
        let values: Vec<Value> = points
            .iter()
            .map(|&(x, y)| (self.place(x, y), x, y))
            .map(|((left, top), x, y)| {
                json!([rounded(left, 1), rounded(top, 1), rounded(x, 4), rounded(y, 4)])
            })
            .collect();
        self.of(series).values.extend(values);
    }

    /// Names a series.
    pub fn legend(&mut self, name: &str, series: usize) {
        self.of(series).name = name.into();
    }

    /// A line through points, with markers at them if they are few.
    pub fn line(&mut self, points: &[(f64, f64)], series: usize) {
        let (style, path) = (Style::of(series), self.path(points));
        self.draw(
            series,
            html! {
                path d=(path) fill="none" stroke=(style.colour) stroke-width="1.8" stroke-dasharray=(style.dash) {}
            },
        );
        if points.len() <= 12 {
            points.iter().for_each(|&(x, y)| self.draw(series, style.mark(self.place(x, y))));
        }
        self.values(points, series);
    }

    /// A thin straight line from one place to another, such as that of chance.
    pub fn guide(&mut self, from: (f64, f64), to: (f64, f64)) {
        let path = self.path(&[from, to]);
        self.guide = Some(
            html! { path d=(path) stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="3 3" {} },
        );
    }

    /// The area between two lines over the same places.
    pub fn band(&mut self, points: &[(f64, f64, f64)], series: usize) {
        let low = points.iter().map(|&(x, low, _)| (x, low));
        let high = points.iter().rev().map(|&(x, _, high)| (x, high));
        let path = self.path(&low.chain(high).collect::<Vec<_>>());
        let fill = Style::of(series).colour;
        self.draw(series, html! { path d={ (path) "Z" } fill=(fill) fill-opacity="0.15" {} });
    }

    /// A histogram of counts in equal bins over [0, 1], as shares.
    pub fn steps(&mut self, histogram: &[usize], series: usize) {
        let total = histogram.iter().sum::<usize>().max(1) as f64;
        let width = 1.0 / histogram.len().max(1) as f64;
        let (mut outline, mut middles) = (vec![(0.0, 0.0)], Vec::new());
        for (bin, &count) in histogram.iter().enumerate() {
            let share = count as f64 / total;
            outline.extend([(bin as f64 * width, share), ((bin + 1) as f64 * width, share)]);
            middles.push(((bin as f64 + 0.5) * width, share));
        }
        outline.push((1.0, 0.0));
        let (path, Style { colour, dash, .. }) = (self.path(&outline), Style::of(series));
        self.draw(
            series,
            html! {
                path d=(path) fill=(colour) fill-opacity="0.10" stroke=(colour) stroke-width="1.5"
                    stroke-dasharray=(dash) {}
            },
        );
        self.values(&middles, series);
    }

    /// A marker that says something when it is pointed at.
    pub fn dot(&mut self, x: f64, y: f64, series: usize, said: &str) {
        let (left, top) = self.place(x, y);
        self.draw(series, Style::of(series).mark((left, top)));
        self.of(series).values.push(json!([rounded(left, 1), rounded(top, 1), said]));
    }

    /// The finished figure; `title` is read out to those who cannot see it.
    pub fn finish(self, title: &str) -> Markup {
        let (width, (names, rows)) = (self.size.0, self.legend_places());
        let height = self.size.1 + LEGEND * rows as f64;
        html! {
            svg.plot xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-label=(title) data-x=(self.x.label) data-y=(self.y.label) font-size="11"
                font-family="system-ui,sans-serif" fill="currentColor" {
                (self.grid())
                (self.axes())
                @if let Some(guide) = &self.guide { (guide) }
                @for (number, series) in self.series.iter().enumerate() {
                    g data-series=(number) data-name=(series.name) data-values=(Value::from(series.values.clone())) {
                        @for part in &series.body { (part) }
                    }
                }
                @for (number, place) in names { (self.key(number, place)) }
            }
        }
    }

    /// The name of a series, which switches it off and on.
    fn key(&self, number: usize, (x, y): (f64, f64)) -> Markup {
        let (style, name) = (Style::of(number), &self.series[number].name);
        let line = format!("M{:.1} {:.1}h20", x, y - 4.0);
        html! {
            g.switch data-switches=(number) tabindex="0" role="switch" aria-checked="true" aria-label=(name) {
                rect x=(tenths(x)) y=(tenths(y - 12.0)) width=(tenths(legend_width(name) - 6.0)) height="16" fill-opacity="0" {}
                path d=(line) stroke=(style.colour) stroke-width="2" stroke-dasharray=(style.dash) {}
                (style.mark((x + 10.0, y - 4.0)))
                text x=(tenths(x + 24.0)) y=(tenths(y)) { (name) }
            }
        }
    }

    /// Where the names of the series stand, as many in a row as fit, and how many rows that takes.
    fn legend_places(&self) -> (Vec<Key>, usize) {
        let (mut x, mut row, mut places) = (LEFT, 0, Vec::new());
        for (number, series) in self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()) {
            let width = legend_width(&series.name);
            if x > LEFT && x + width > self.size.0 {
                (x, row) = (LEFT, row + 1);
            }
            places.push((number, (x, self.size.1 + 12.0 + LEGEND * row as f64)));
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

/// How wide a name is drawn is only known to the browser: this is a guess with room to spare.
fn legend_width(name: &str) -> f64 {
    38.0 + 6.0 * name.chars().count() as f64
}

/// A number with so many digits after the point, for the script.
fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

/// A coordinate: a tenth of a unit is finer than a pixel.
pub(super) fn tenths(value: f64) -> String {
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
    fn no_two_series_look_alike() {
        let looks = |series: usize| {
            let Style { colour, dash, .. } = Style::of(series);
            (colour, dash)
        };
        for one in 0..32 {
            (0..one).for_each(|other| assert_ne!(looks(one), looks(other)));
        }
    }

    #[test]
    fn values_are_there_to_be_pointed_at() {
        let mut plot = Plot::new(Axis::new("x", 0.0, 1.0), Axis::new("y", 0.0, 1.0));
        plot.line(&[(0.0, 0.25), (1.0, 0.123456)], 0);
        plot.legend("it", 0);
        let svg = plot.finish("t").into_string();
        assert!(svg.contains("data-values=\"[[58.0,166.0,0.0,0.25],[408.0,"), "{svg}");
        assert!(svg.contains(",1.0,0.1235]]") && svg.contains("data-switches=\"0\""));
    }

    #[test]
    fn names_that_do_not_fit_start_a_row() {
        let mut plot = Plot::new(Axis::new("x", 0.0, 1.0), Axis::new("y", 0.0, 1.0));
        assert_eq!(plot.legend_places().1, 0);
        let names = ["short", "short", &"long".repeat(20), "short"];
        names.iter().enumerate().for_each(|(series, name)| plot.legend(name, series));
        let (places, rows) = plot.legend_places();
        let places: Vec<(f64, f64)> = places.into_iter().map(|(_, place)| place).collect();
        assert_eq!(rows, 3);
        assert!(places[0].1 == places[1].1 && places[1].0 > places[0].0 + 40.0);
        assert!(places[2].0 == LEFT && places[3].0 == LEFT && places[3].1 > places[2].1);
    }
}
